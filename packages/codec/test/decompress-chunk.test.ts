import { deflateSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { seededRandom } from '@quicksilver/testing';
import { decompressChunk } from '../src/index.ts';
import { codeOf } from './support/pieces.ts';

const random = seededRandom(3);
const plain = new Uint8Array(Buffer.concat([random.bytes(300), Buffer.alloc(5000, 'revision ')]));
const CHUNKS: readonly ['zlib' | 'zstd', Uint8Array][] = [
  ['zlib', new Uint8Array(deflateSync(plain))],
  ['zstd', new Uint8Array(zstdCompressSync(plain))],
];

function shared(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}

describe.each(CHUNKS)('a %s chunk', (name, chunk) => {
  it('comes back, also out of shared memory', () => {
    expect(new Uint8Array(decompressChunk(name, chunk, plain.length))).toEqual(plain);
    expect(new Uint8Array(decompressChunk(name, shared(chunk), plain.length))).toEqual(plain);
  });

  it('is incomplete at every cut', async () => {
    for (let cut = 0; cut < chunk.length; cut++) {
      expect([cut, await codeOf(() => decompressChunk(name, chunk.subarray(0, cut), plain.length))]).toEqual([
        cut,
        'HG_TRUNCATED',
      ]);
    }
  });

  it('stops at the limit, down to zero', async () => {
    for (const limit of [0, 1, plain.length - 1]) {
      expect(await codeOf(() => decompressChunk(name, chunk, limit))).toBe('HG_LIMIT');
    }
    const one = name === 'zlib' ? deflateSync('x') : zstdCompressSync('x');
    expect(await codeOf(() => decompressChunk(name, one, 0))).toBe('HG_LIMIT');
    const none = name === 'zlib' ? deflateSync('') : zstdCompressSync('');
    expect(decompressChunk(name, none, 0).length).toBe(0);
  });

  it('refuses bytes behind its end, and garbage', async () => {
    for (const extra of [1, 4, 9]) {
      const longer = new Uint8Array(Buffer.concat([chunk, Buffer.alloc(extra, '!')]));
      expect(await codeOf(() => decompressChunk(name, longer, plain.length))).toBe('HG_CORRUPT');
    }
    expect(await codeOf(() => decompressChunk(name, new Uint8Array(50).fill(0x21), 100))).toBe('HG_CORRUPT');
  });

  it('ends in a coded error or a result for any damage', async () => {
    for (let round = 0; round < 300; round++) {
      const damaged = chunk.slice();
      for (let flips = 0; flips < 3; flips++) {
        damaged[random.int(0, damaged.length)] = random.int(0, 256);
      }
      await codeOf(() => decompressChunk(name, damaged, 100_000));
    }
  });
});

describe('a zstd chunk of several frames', () => {
  it('is put together, with skippable frames left out', () => {
    const skip = Buffer.from([0x5f, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 1, 1]);
    const chunk = Buffer.concat([
      skip,
      zstdCompressSync(plain.subarray(0, 100)),
      skip,
      zstdCompressSync(plain.subarray(100)),
    ]);
    expect(new Uint8Array(decompressChunk('zstd', chunk, plain.length))).toEqual(plain);
  });

  it('counts the limit over all frames', async () => {
    const frame = zstdCompressSync(new Uint8Array(60));
    expect(await codeOf(() => decompressChunk('zstd', Buffer.concat([frame, frame]), 100))).toBe('HG_LIMIT');
    expect(decompressChunk('zstd', Buffer.concat([frame, frame]), 120).length).toBe(120);
  });
});
