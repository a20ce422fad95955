import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';

const PIECE = 1 << 20;

/** A file without holes whose bytes do not compress, the same for the same length. */
export function makeNoise(path: string, size: number): void {
  const piece = new Uint32Array(PIECE / 4);
  const bytes = new Uint8Array(piece.buffer);
  let state = 0x9e3779b9;
  const fd = openSync(path, 'w');
  try {
    for (let done = 0; done < size; done += PIECE) {
      for (let i = 0; i < piece.length; i++) {
        state ^= state << 13;
        state ^= state >>> 17;
        state ^= state << 5;
        piece[i] = state;
      }
      writeSync(fd, bytes, 0, Math.min(PIECE, size - done), done);
    }
    fsyncSync(fd); // dirty pages could not be dropped from the cache
  } finally {
    closeSync(fd);
  }
}
