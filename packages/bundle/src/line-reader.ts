import { CodedError } from '@quicksilver/bytes';

const LF = 0x0a;

/** Brings together a line that may arrive in pieces; one that lies whole in a piece is handed out as a view of it. */
export class LineReader {
  readonly #limit: number;
  #held = Buffer.alloc(0);
  #taken = 0;

  /** `limit`: most bytes of a line, without its end. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** How many bytes of its piece the last `take` used. */
  get taken(): number {
    return this.#taken;
  }

  /** How many bytes of an unfinished line are held. */
  get held(): number {
    return this.#held.length;
  }

  /**
   * The line without its end once that is there, else undefined.
   *
   * @throws CodedError HG_LIMIT for a line that is too long.
   */
  take(piece: Uint8Array, at: number): Uint8Array | undefined {
    const window = piece.subarray(at, at + this.#limit - this.#held.length + 1);
    const end = window.indexOf(LF);
    const part = end === -1 ? window : window.subarray(0, end);
    if (this.#held.length + part.length > this.#limit) {
      throw new CodedError('HG_LIMIT', 'a line is longer than it can be', { limit: this.#limit });
    }
    this.#taken = end === -1 ? part.length : part.length + 1;
    if (end !== -1 && this.#held.length === 0) return part;
    const held = Buffer.concat([this.#held, part]);
    this.#held = end === -1 ? held : Buffer.alloc(0);
    return end === -1 ? undefined : new Uint8Array(held);
  }
}
