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
});
export type WriterConfig = z.infer<typeof WriterConfig>;
