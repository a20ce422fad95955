import { inflateSync, zstdDecompressSync } from 'node:zlib';
import type { Where } from '@quicksilver/bytes';
import { HgError } from '@quicksilver/hg-types';
import { CHUNK_MARK } from './layout.ts';
import { hex } from './revlog-header.ts';

/** How a chunk is stored: `raw` behind a mark, `plain` as it is (its own first byte is 0), or compressed. */
export type ChunkKind = 'empty' | 'raw' | 'plain' | 'zlib' | 'zstd';

/** By the first byte; undefined for one that no chunk has. */
export function chunkKind(firstByte: number): Exclude<ChunkKind, 'empty'> | undefined {
  switch (firstByte) {
    case CHUNK_MARK.raw:
      return 'raw';
    case CHUNK_MARK.plain:
      return 'plain';
    case CHUNK_MARK.zlib:
      return 'zlib';
    case CHUNK_MARK.zstd:
      return 'zstd';
    default:
      return undefined;
  }
}

export function unknownChunk(firstByte: number, where: Where): HgError {
  return new HgError('HG_CORRUPT', 'a chunk begins with a byte that names no compression', {
    ...where,
    got: hex(firstByte),
  });
}

function decompressChunk(name: 'zlib' | 'zstd', chunk: Uint8Array, maxOutput: number): Uint8Array {
  return (name === 'zlib' ? inflateSync : zstdDecompressSync)(chunk, { maxOutputLength: Math.max(1, maxOutput) });
}

/** What a chunk holds: a full text or a delta. A view of it where it is not compressed. */
export function decodeChunk(chunk: Uint8Array, maxOutput: number, where: Where): Uint8Array {
  const first = chunk[0];
  if (first === undefined) return chunk;
  const kind = chunkKind(first);
  switch (kind) {
    case 'raw':
      return chunk.subarray(1);
    case 'plain':
      return chunk;
    case 'zlib':
    case 'zstd':
      try {
        return decompressChunk(kind, chunk, maxOutput);
      } catch (err) {
        throw new HgError('HG_CORRUPT', 'a chunk does not decompress', where, err);
      }
    case undefined:
      throw unknownChunk(first, where);
  }
}
