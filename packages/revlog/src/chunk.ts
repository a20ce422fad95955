import type { Where } from '@quicksilver/bytes';
import { decompressChunk } from '@quicksilver/codec';
import { HgError, toHgError } from '@quicksilver/hg-types';
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

export interface DecodeOptions {
  /** More output than this is a fault: of the limits, or of the entry where that gave the length. */
  readonly maxOutput: number;
  readonly lengthFrom: 'entry' | 'limit';
  /** Facts for faults: file, revision. */
  readonly where: Where;
}

/** What a chunk holds: a full text or a delta. A view of it where it is not compressed. */
export function decodeChunk(chunk: Uint8Array, options: DecodeOptions): Uint8Array {
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
      return decompress(kind, chunk, options);
    case undefined:
      throw unknownChunk(first, options.where);
  }
}

function decompress(kind: 'zlib' | 'zstd', chunk: Uint8Array, options: DecodeOptions): Uint8Array {
  try {
    return decompressChunk(kind, chunk, options.maxOutput);
  } catch (err) {
    const fault = toHgError(err, options.where);
    if (fault.code !== 'HG_LIMIT' || options.lengthFrom === 'limit') throw fault;
    throw new HgError('HG_CORRUPT', 'a chunk holds more than its entry says', fault.where, err);
  }
}
