import { type Random, seededRandom } from '@quicksilver/testing';

const POOL = 4 * 1024 * 1024;
const VOCABULARY = 6_000;

/** Texts that compress like source code: lines of words from one vocabulary, cut from one pool. */
export class Texts {
  readonly #pool: Buffer;

  constructor(seed: number) {
    const random = seededRandom(seed);
    const words = Array.from({ length: VOCABULARY }, () => word(random));
    const lines: string[] = [];
    for (let size = 0; size < POOL; ) {
      const count = random.int(2, 12);
      // Squared: few words are frequent, most are rare, as in any language.
      const line = Array.from({ length: count }, () => words[Math.floor(random.next() ** 2 * VOCABULARY)]).join(' ');
      lines.push(line);
      size += line.length + 1;
    }
    this.#pool = Buffer.from(`${lines.join('\n')}\n`);
  }

  /** `size` bytes, never beginning like file metadata. */
  cut(random: Random, size: number): Buffer {
    if (size > this.#pool.length / 2) return Buffer.alloc(size, this.#pool);
    const start = random.int(0, this.#pool.length - size);
    return this.#pool.subarray(start, start + size);
  }
}

/** Log-normal, as file sizes of source trees are: half are under the median, a few are a hundred times larger. */
export function textSize(random: Random, median: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
  return Math.min(Math.floor(median * Math.exp(SIGMA * normal)), MAX_TEXT);
}

export const SIGMA = 1.25;
export const MAX_TEXT = 4 * 1024 * 1024;

function word(random: Random): string {
  return Array.from({ length: random.int(2, 10) }, () => String.fromCharCode(random.int(97, 123))).join('');
}
