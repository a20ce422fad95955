import { VolumeAccess } from '@quicksilver/app-kit/engine';
import { CloneData, EngineSettings } from '@quicksilver/jobs';
import { z } from 'zod';

/** What the writer asks of an engine: one clone job and this service's own settings. */
export const CloneWork = z.object({
  volume: z.string(),
  access: VolumeAccess,
  job: CloneData,
  sourceRoots: z.array(z.string()),
  allowPrivateSources: z.boolean(),
  maxDownload: z.int().positive(),
  lockDuration: z.int().positive(),
  settings: EngineSettings.omit({ flush: true }),
});
export type CloneWork = z.infer<typeof CloneWork>;
