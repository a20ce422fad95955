import { commonSettings, dataPlaneSettings, milliseconds } from '@quicksilver/app-kit';
import { z } from 'zod';

/** Every setting of the closer; read once at start. */
export const CloserConfig = z.object({
  ...commonSettings,
  ...dataPlaneSettings,
  /** How long a superseded generation stays where it is: longer than any reader keeps it open. */
  QUICKSILVER_TRASH_GRACE: milliseconds(86_400_000, 0),
  /** Between two rounds of the janitor on a volume. */
  QUICKSILVER_JANITOR_INTERVAL: milliseconds(300_000, 100),
});
export type CloserConfig = z.infer<typeof CloserConfig>;
