import { type Random, seededRandom } from '@quicksilver/testing';
import type { SampleFile } from './feed.ts';

const POOL = 512 * 1024;
let pool: Uint8Array | undefined;

/** Files of mixed sizes in nested directories, in an order of their own per seed; empty ones and big ones included. */
export function sampleFiles(count: number, seed: number): SampleFile[] {
  const contents = seededRandom(7);
  pool ??= seededRandom(8).bytes(POOL);
  const bytes = pool;
  const files = Array.from({ length: count }, (_, i) => sampleFile(contents, bytes, i));
  return shuffle(files, seededRandom(seed));
}

function sampleFile(random: Random, bytes: Uint8Array, i: number): SampleFile {
  const size = i % 17 === 0 ? 0 : i % 31 === 0 ? random.int(100_000, 300_000) : random.int(1, 4_000);
  const folders = Array.from({ length: random.int(0, 4) }, () => `d${random.int(0, 5)}`);
  const start = random.int(0, POOL - size);
  return { path: ['store', ...folders, `f${i}.i`].join('/'), bytes: bytes.subarray(start, start + size) };
}

function shuffle<T>(items: T[], random: Random): T[] {
  return items
    .map((item) => ({ item, key: random.next() }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
}
