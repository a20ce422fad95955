import { CodedError } from './coded-error.ts';
import { latin1Text } from './latin1.ts';
import { joinU64 } from './numbers.ts';

/**
 * Reads big-endian fields out of bytes that are all there. Every read is checked; `raw` hands out views, not copies.
 * `base` is the absolute offset of `bytes[0]` in the input, so that a fault names a place the user can look at.
 */
export class ByteCursor {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #label: string;
  readonly #base: number;
  #at = 0;

  constructor(bytes: Uint8Array, label: string, base = 0) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#label = label;
    this.#base = base;
  }

  /** Absolute offset of the next read. */
  get offset(): number {
    return this.#base + this.#at;
  }

  get remaining(): number {
    return this.#bytes.length - this.#at;
  }

  u8(): number {
    return this.#view.getUint8(this.#advance(1));
  }

  u16(): number {
    return this.#view.getUint16(this.#advance(2));
  }

  u32(): number {
    return this.#view.getUint32(this.#advance(4));
  }

  i32(): number {
    return this.#view.getInt32(this.#advance(4));
  }

  u48(): number {
    const at = this.#advance(6);
    return joinU64(this.#view.getUint16(at), this.#view.getUint32(at + 2));
  }

  /** Refuses values that a number cannot hold exactly. */
  u64(): number {
    const at = this.#advance(8);
    return joinU64(this.#view.getUint32(at), this.#view.getUint32(at + 4), this.#base + at);
  }

  /** A view of the next `length` bytes. */
  raw(length: number): Uint8Array {
    const at = this.#advance(length);
    return this.#bytes.subarray(at, at + length);
  }

  /** The next `length` bytes as a string with one character per byte. */
  latin1(length: number): string {
    return latin1Text(this.raw(length));
  }

  skip(length: number): void {
    this.#advance(length);
  }

  /** Refuses bytes that no field accounts for. */
  expectEnd(): void {
    if (this.remaining === 0) return;
    throw new CodedError('HG_CORRUPT', 'there are bytes after the last field', {
      what: this.#label,
      offset: this.offset,
      left: this.remaining,
    });
  }

  #advance(length: number): number {
    const at = this.#at;
    // Written so that NaN and negative lengths are refused as well.
    if (!(length >= 0 && length <= this.#bytes.length - at)) {
      throw new CodedError('HG_TRUNCATED', 'the input ends too early', {
        what: this.#label,
        offset: this.offset,
        wanted: length,
        left: this.remaining,
      });
    }
    this.#at = at + length;
    return at;
  }
}
