/** Compression engines by the names that Mercurial uses on the wire (`hg help internals.wireprotocol`). */
export const COMPRESSION_NAMES = ['none', 'zlib', 'zstd', 'bzip2'] as const;
export type CompressionName = (typeof COMPRESSION_NAMES)[number];
