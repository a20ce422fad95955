import { describe, expect, it } from '@jest/globals';
import { CodedError, decodeVarint, encodeVarint, MAX_VARINT_BYTES, VarintReader } from '../src/index.ts';

const SAMPLES = [0, 1, 127, 128, 300, 16383, 16384, 2 ** 31, 2 ** 32, 2 ** 40 + 5, Number.MAX_SAFE_INTEGER];

function codeOf(action: () => unknown): string {
  try {
    action();
  } catch (err) {
    if (err instanceof CodedError) return err.code;
    throw err;
  }
  return 'none';
}

describe('varint', () => {
  it.each(SAMPLES)('%p comes back', (value) => {
    const bytes = encodeVarint(value);
    expect(decodeVarint(bytes, 0)).toEqual({ value, next: bytes.length });
    const reader = new VarintReader();
    const fed = [...bytes].map((byte) => reader.feed(byte));
    expect(fed.pop()).toBe(value);
    expect(fed.every((early) => early === undefined)).toBe(true);
    expect(reader.partial).toBe(false);
  });

  it('asks for more bytes at every cut', () => {
    for (const value of SAMPLES) {
      const bytes = encodeVarint(value);
      for (let cut = 0; cut < bytes.length; cut++) expect(decodeVarint(bytes.subarray(0, cut), 0)).toBeUndefined();
    }
  });

  it('accepts a longer spelling of a small number within the byte limit', () => {
    expect(decodeVarint(Uint8Array.from([0x81, 0x80, 0x00]), 0)).toEqual({ value: 1, next: 3 });
  });

  it('refuses one without end after the ninth byte, and one too large as soon as it is', () => {
    expect(codeOf(() => decodeVarint(new Uint8Array(1000).fill(0x80), 0))).toBe('HG_LIMIT');
    expect(codeOf(() => decodeVarint(new Uint8Array(MAX_VARINT_BYTES).fill(0xff), 0))).toBe('HG_LIMIT');
    expect(decodeVarint(new Uint8Array(MAX_VARINT_BYTES - 1).fill(0x80), 0)).toBeUndefined();
    const twoTo60 = Uint8Array.from([0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10]);
    expect(codeOf(() => decodeVarint(twoTo60, 0))).toBe('HG_LIMIT');
  });

  it.each([-1, 0.5, Number.NaN, 2 ** 53])('does not encode %p', (value) => {
    expect(codeOf(() => encodeVarint(value))).toBe('HG_LIMIT');
  });
});
