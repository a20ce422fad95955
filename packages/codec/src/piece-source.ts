import type { OutputMeter } from './output-meter.ts';

/** Pulls pieces one by one and takes back what was not used. */
export class PieceSource {
  readonly #iterator: AsyncIterator<Uint8Array>;
  readonly #meter: OutputMeter;
  #rest: Uint8Array | undefined;
  #done = false;

  constructor(source: AsyncIterable<Uint8Array>, meter: OutputMeter) {
    this.#iterator = source[Symbol.asyncIterator]();
    this.#meter = meter;
  }

  /** Offset of the next byte in the input. */
  get position(): number {
    return this.#meter.input - (this.#rest?.length ?? 0);
  }

  /** The next piece, never empty; undefined at the end. */
  async next(): Promise<Uint8Array | undefined> {
    const rest = this.#rest;
    this.#rest = undefined;
    if (rest) return rest;
    while (!this.#done) {
      const step = await this.#iterator.next();
      if (step.done === true) this.#done = true;
      else if (step.value.length > 0) {
        this.#meter.took(step.value.length);
        return step.value;
      }
    }
    return undefined;
  }

  /** Puts back the end of the piece that `next` gave last. */
  unread(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#rest = bytes;
  }

  /** The next `length` bytes as a copy; fewer only where the input ends. Meant for a handful. */
  async gather(length: number): Promise<Uint8Array> {
    const field = new Uint8Array(length);
    let held = 0;
    while (held < length) {
      const piece = await this.next();
      if (piece === undefined) return field.subarray(0, held);
      const taken = piece.subarray(0, length - held);
      field.set(taken, held);
      held += taken.length;
      this.unread(piece.subarray(taken.length));
    }
    return field;
  }

  /** Passes over `length` bytes; gives how many there were. */
  async skip(length: number): Promise<number> {
    let passed = 0;
    while (passed < length) {
      const piece = await this.next();
      if (piece === undefined) break;
      const taken = Math.min(piece.length, length - passed);
      passed += taken;
      this.unread(piece.subarray(taken));
    }
    return passed;
  }

  /** Counts and drops all that is left. */
  async drain(): Promise<number> {
    return await this.skip(Number.POSITIVE_INFINITY);
  }

  /** Tells the source that nobody reads on. */
  async close(): Promise<void> {
    if (this.#done) return;
    this.#done = true;
    await this.#iterator.return?.();
  }
}
