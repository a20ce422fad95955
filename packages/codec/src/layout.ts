/** Numbers of the zstd frame format (RFC 8878, section 3.1). All of its fields are little-endian. */

export const MAGIC_BYTES = 4;

/** First bytes of a frame that holds data. */
export const FRAME_MAGIC = 0xfd2fb528;

/** First bytes of a frame to skip: sixteen values that differ in their low four bits. */
export const SKIPPABLE_MAGIC = 0x184d2a50;
export const SKIPPABLE_MAGIC_MASK = 0xfffffff0;
export const SKIPPABLE_SIZE_BYTES = 4;

export const BLOCK_HEADER_BYTES = 3;
export const CHECKSUM_BYTES = 4;

export const BLOCK_TYPE = { raw: 0, rle: 1, compressed: 2, reserved: 3 } as const;

/**
 * A decoder keeps one window of decoded data in memory, as large as the frame asks for. 128 MiB is what zstd's own
 * decoder grants unless told otherwise, and what its highest level (22) asks for.
 */
export const MAX_WINDOW = 128 * 1024 * 1024;
