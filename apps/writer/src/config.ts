import { commonSettings, dataPlaneSettings, directories, flag, wholeNumber } from '@quicksilver/app-kit';
import { z } from 'zod';

/** Every setting of the writer; read once at start. */
export const WriterConfig = z.object({
  ...commonSettings,
  ...dataPlaneSettings,
  /** Local sources are taken only below these directories; none by default. */
  QUICKSILVER_SOURCE_ROOTS: directories,
  /** 1: sources may be addresses in private networks, which whoever may ask for mirrors can then reach. */
  QUICKSILVER_ALLOW_PRIVATE_SOURCES: flag,
  /** Bytes that a bundle at an address may have. */
  QUICKSILVER_MAX_DOWNLOAD: wholeNumber(1, 2 ** 49).default(2 ** 40),
  /** Writer threads per clone; the engine decides when unset. */
  QUICKSILVER_WRITERS: wholeNumber(1, 64).optional(),
  /** Bytes in flight per clone; the engine decides when unset. */
  QUICKSILVER_MEMORY_TARGET: wholeNumber(65_536, 2 ** 40).optional(),
  /** Closing of files by threads of their own; the engine measures and decides when unset (`auto`). */
  QUICKSILVER_BACKGROUND_CLOSE: z.enum(['off', 'on', 'auto']).optional(),
  QUICKSILVER_BACKGROUND_CLOSE_MIN_FILE_COUNT: wholeNumber(0, 2 ** 31).optional(),
  QUICKSILVER_BACKGROUND_CLOSE_MAX_QUEUE: wholeNumber(1, 65_536).optional(),
  QUICKSILVER_BACKGROUND_CLOSE_THREAD_COUNT: wholeNumber(1, 64).optional(),
});
export type WriterConfig = z.infer<typeof WriterConfig>;
