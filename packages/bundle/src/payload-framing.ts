import { encodeI32 } from '@quicksilver/bytes';
import { HgError } from '@quicksilver/hg-types';
import { DEFAULT_CHUNK, MAX_CHUNK, SIZE_BYTES } from './layout.ts';

/** Ends a payload; in place of a part header, the bundle. */
export function endMarker(): Uint8Array {
  return encodeI32(0);
}

/** One payload chunk of everything, as stock hg frames payloads that it has in memory. */
export function* framePayload(payload: Uint8Array): Generator<Uint8Array> {
  if (payload.length > 0) {
    yield encodeI32(payload.length);
    yield payload;
  }
  yield endMarker();
}

/** Frames pieces of any length as chunks of `chunkSize` bytes. What is yielded is not used again. */
export function* frameStream(pieces: Iterable<Uint8Array>, chunkSize = DEFAULT_CHUNK): Generator<Uint8Array> {
  if (!Number.isInteger(chunkSize) || chunkSize < 1 || chunkSize > MAX_CHUNK) {
    throw new HgError('HG_USAGE', 'not a size for payload chunks', { chunkSize });
  }
  let chunk = new Uint8Array(SIZE_BYTES + chunkSize);
  let used = 0;
  for (const piece of pieces) {
    let at = 0;
    while (at < piece.length) {
      const length = Math.min(chunkSize - used, piece.length - at);
      chunk.set(piece.subarray(at, at + length), SIZE_BYTES + used);
      used += length;
      at += length;
      if (used === chunkSize) {
        chunk.set(encodeI32(used));
        yield chunk;
        chunk = new Uint8Array(SIZE_BYTES + chunkSize);
        used = 0;
      }
    }
  }
  if (used > 0) {
    chunk.set(encodeI32(used));
    yield chunk.subarray(0, SIZE_BYTES + used);
  }
  yield endMarker();
}
