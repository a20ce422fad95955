import type { RandomAccess } from './random-access.ts';

/** Chunks of this size and less are read whole, in a row: one read for many. */
const SMALL_CHUNK = 8 * 1024;
const WINDOW = 256 * 1024;
const SHORT_WINDOW = 64;

/** Single bytes at rising places of data that is too large to hold. */
export class FirstBytes {
  readonly #data: RandomAccess;
  readonly #window: number;
  #bytes: Uint8Array = new Uint8Array(0);
  #start = 0;

  /** `count` is about how many places will be asked for. */
  constructor(data: RandomAccess, count: number) {
    this.#data = data;
    this.#window = data.size / Math.max(1, count) <= SMALL_CHUNK ? WINDOW : SHORT_WINDOW;
  }

  at(offset: number): number {
    const held = this.#bytes[offset - this.#start];
    if (held !== undefined) return held;
    const length = Math.max(1, Math.min(this.#window, this.#data.size - offset));
    this.#bytes = this.#data.read(offset, length);
    this.#start = offset;
    return this.#bytes[0] ?? 0;
  }
}
