import { CodedError } from './coded-error.ts';

/** A varint may take this many bytes and no more: 63 bits, over what a number holds exactly. */
export const MAX_VARINT_BYTES = 9;

const PAYLOAD_BITS = 0x7f;
const MORE = 0x80;

/**
 * Little-endian base 128 (LEB128): seven bits a byte, low bits first, the high bit says that more follow.
 * Fed byte by byte, so that a varint may be cut anywhere by the input's pieces.
 */
export class VarintReader {
  #value = 0;
  #scale = 1;
  #count = 0;

  /** True when some, but not all, bytes of a varint have been fed. */
  get partial(): boolean {
    return this.#count > 0;
  }

  /** The value once its last byte is fed, and the reader is ready for the next varint; else undefined. */
  feed(byte: number): number | undefined {
    this.#value += (byte & PAYLOAD_BITS) * this.#scale;
    this.#scale *= 128;
    this.#count += 1;
    if (this.#value > Number.MAX_SAFE_INTEGER) throw tooLarge();
    if ((byte & MORE) !== 0) {
      if (this.#count === MAX_VARINT_BYTES) throw tooLarge();
      return undefined;
    }
    const value = this.#value;
    this.#value = 0;
    this.#scale = 1;
    this.#count = 0;
    return value;
  }
}

/** The varint at `at` and the offset behind it; undefined when `bytes` end inside it. */
export function decodeVarint(bytes: Uint8Array, at: number): { value: number; next: number } | undefined {
  const reader = new VarintReader();
  for (let next = at; next < bytes.length; next++) {
    const value = reader.feed(bytes[next] ?? 0);
    if (value !== undefined) return { value, next: next + 1 };
  }
  return undefined;
}

export function encodeVarint(value: number): Uint8Array {
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new CodedError('HG_LIMIT', 'not a number that a varint can carry', { value });
  }
  const bytes: number[] = [];
  let rest = value;
  while (rest > PAYLOAD_BITS) {
    bytes.push((rest % 128) | MORE);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
  return Uint8Array.from(bytes);
}

function tooLarge(): CodedError {
  return new CodedError('HG_LIMIT', 'a variable-length number is too large', {
    maxBytes: MAX_VARINT_BYTES,
    limit: Number.MAX_SAFE_INTEGER,
  });
}
