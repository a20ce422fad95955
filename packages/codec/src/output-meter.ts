import { codecError } from './errors.ts';

/** Below this much output nobody asks how little input it came from. */
const RATIO_GRACE = 64 * 1024 * 1024;

/** zlib ends near 1000:1; histories compress some 10:1, rarely 100:1. */
export const DEFAULT_MAX_RATIO = 4096;

export interface OutputLimits {
  readonly maxOutput?: number | undefined;
  readonly maxRatio?: number | undefined;
}

/** Counts both sides of a decompressor and stops bombs: by a limit of the caller, and by a ratio that no data has. */
export class OutputMeter {
  readonly #codec: string;
  readonly #maxOutput: number;
  readonly #maxRatio: number;
  #input = 0;
  #output = 0;

  constructor(codec: string, limits: OutputLimits) {
    this.#codec = codec;
    this.#maxOutput = limits.maxOutput ?? Number.POSITIVE_INFINITY;
    this.#maxRatio = limits.maxRatio ?? DEFAULT_MAX_RATIO;
  }

  get input(): number {
    return this.#input;
  }

  took(bytes: number): void {
    this.#input += bytes;
  }

  gave(bytes: number): void {
    this.#output += bytes;
    const facts = { codec: this.#codec, input: this.#input, output: this.#output };
    if (this.#output > this.#maxOutput) {
      throw codecError('HG_LIMIT', 'the decompressed data is too large', { ...facts, limit: this.#maxOutput });
    }
    if (this.#output > RATIO_GRACE && this.#output > this.#input * this.#maxRatio) {
      throw codecError('HG_LIMIT', 'the data expands more than real data does', { ...facts, maxRatio: this.#maxRatio });
    }
  }
}
