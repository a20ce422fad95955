const FIRST_ALLOCATION = 64;

/**
 * Brings together a field of known length that may arrive in pieces. A field that lies whole in one piece is handed
 * out as a view of it; only a field cut by a boundary is copied. Memory grows with the bytes that came, never with
 * the length that was announced.
 */
export class Gatherer {
  #held: Uint8Array = new Uint8Array(0);
  #length = 0;
  #taken = 0;

  /** How many bytes of its piece the last `take` used. */
  get taken(): number {
    return this.#taken;
  }

  /** How many bytes of an unfinished field are held. */
  get held(): number {
    return this.#length;
  }

  /** Takes from `piece` at `at` towards a field of `wanted` bytes: the field when complete, else undefined. */
  take(piece: Uint8Array, at: number, wanted: number): Uint8Array | undefined {
    const there = piece.length - at;
    if (this.#length === 0 && there >= wanted) {
      this.#taken = wanted;
      return piece.subarray(at, at + wanted);
    }
    const taken = Math.min(there, wanted - this.#length);
    this.#reserve(this.#length + taken);
    this.#held.set(piece.subarray(at, at + taken), this.#length);
    this.#length += taken;
    this.#taken = taken;
    if (this.#length < wanted) return undefined;
    this.#length = 0;
    return this.#held.slice(0, wanted);
  }

  #reserve(size: number): void {
    if (size <= this.#held.length) return;
    const grown = new Uint8Array(Math.max(size, this.#held.length * 2, FIRST_ALLOCATION));
    grown.set(this.#held.subarray(0, this.#length));
    this.#held = grown;
  }
}
