import { CodedError } from './coded-error.ts';

const TWO_32 = 2 ** 32;
const MAX_HIGH = 2 ** 21 - 1;

/** The one place where wide integers are put together: what a number cannot hold exactly is refused. */
export function joinU64(high: number, low: number, offset = 0): number {
  if (high > MAX_HIGH) {
    throw new CodedError('HG_LIMIT', 'a 64-bit number is too large to be handled', {
      offset,
      high,
      low,
      limit: Number.MAX_SAFE_INTEGER,
    });
  }
  return high * TWO_32 + low;
}

function check(bytes: Uint8Array, at: number, size: number): void {
  if (at >= 0 && at + size <= bytes.length) return;
  throw new CodedError('HG_TRUNCATED', 'the input ends too early', {
    offset: at,
    wanted: size,
    left: Math.max(0, bytes.length - at),
  });
}

/** Big-endian reads at an offset, for tables of fixed-size records where a cursor per record would cost too much. */
export function readU16(bytes: Uint8Array, at: number): number {
  check(bytes, at, 2);
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}

export function readI32(bytes: Uint8Array, at: number): number {
  check(bytes, at, 4);
  return ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
}

export function readU32(bytes: Uint8Array, at: number): number {
  return readI32(bytes, at) >>> 0;
}

export function readU48(bytes: Uint8Array, at: number): number {
  check(bytes, at, 6);
  return joinU64(readU16(bytes, at), readU32(bytes, at + 2));
}

export function readU64(bytes: Uint8Array, at: number): number {
  check(bytes, at, 8);
  return joinU64(readU32(bytes, at), readU32(bytes, at + 4), at);
}

/** `value` as a signed or unsigned big-endian 32-bit field. */
export function encodeI32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setInt32(0, value);
  return bytes;
}
