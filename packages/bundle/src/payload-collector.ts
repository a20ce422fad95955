import { HgError } from '@quicksilver/hg-types';
import type { PartConsumer } from './part-consumer.ts';

export interface CollectorOptions {
  /** Most bytes that the payload may have. */
  readonly limit: number;
  /** Named in errors. */
  readonly part: string;
  /** Called with the whole payload once it is complete. */
  readonly done?: (payload: Uint8Array) => void;
}

const FIRST_ALLOCATION = 1024;

/** Brings a small payload together, within a limit. */
export class PayloadCollector implements PartConsumer {
  readonly #options: CollectorOptions;
  #held = new Uint8Array(0);
  #size = 0;
  #complete = false;

  constructor(options: CollectorOptions) {
    this.#options = options;
  }

  data(bytes: Uint8Array): void {
    const { limit, part } = this.#options;
    const size = this.#size + bytes.length;
    if (size > limit) throw new HgError('HG_LIMIT', 'the payload of a part is too large', { part, limit });
    if (size > this.#held.length) {
      const grown = new Uint8Array(Math.max(size, Math.min(limit, this.#held.length * 2), FIRST_ALLOCATION));
      grown.set(this.#held.subarray(0, this.#size));
      this.#held = grown;
    }
    this.#held.set(bytes, this.#size);
    this.#size = size;
  }

  end(): void {
    this.#complete = true;
    this.#options.done?.(this.#held.subarray(0, this.#size));
  }

  /** The payload; undefined until it is complete. */
  get payload(): Uint8Array | undefined {
    return this.#complete ? this.#held.subarray(0, this.#size) : undefined;
  }
}
