import { CloneData } from '@quicksilver/jobs';
import { z } from 'zod';

/** What the writer asks of an engine: one clone job and this service's own settings. */
export const CloneWork = z.object({
  volume: z.string(),
  job: CloneData,
  sourceRoots: z.array(z.string()),
  lockDuration: z.int().positive(),
  settings: z.object({
    writers: z.int().positive().optional(),
    memoryTarget: z.int().positive().optional(),
    fileMode: z.int().nonnegative().optional(),
    dirMode: z.int().nonnegative().optional(),
  }),
});
export type CloneWork = z.infer<typeof CloneWork>;
