import { z } from 'zod';

/** Who may use what an engine writes to a volume, where configuration says more than umask and process do. */
export const VolumeAccess = z.object({
  fileMode: z.int().nonnegative().optional(),
  dirMode: z.int().nonnegative().optional(),
  owner: z.object({ uid: z.int().nonnegative(), gid: z.int().nonnegative() }).optional(),
});
export type VolumeAccess = z.infer<typeof VolumeAccess>;
