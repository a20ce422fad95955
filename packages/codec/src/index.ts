export { COMPRESSION_NAMES, type CompressionName } from './compression-name.ts';
