export { COMPRESSION_NAMES, type CompressionName } from './compression-name.ts';
export { decompressChunk } from './decompress-chunk.ts';
export { type DecompressOptions, decompressStream } from './decompress-stream.ts';
