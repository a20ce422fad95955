import { describe, expect, it } from '@jest/globals';
import {
  ByteCursor,
  CodedError,
  joinU64,
  latin1Bytes,
  latin1Text,
  readI32,
  readU16,
  readU32,
  readU48,
  readU64,
} from '../src/index.ts';

function caught(action: () => unknown): { code: string; where: unknown } {
  try {
    action();
  } catch (err) {
    if (err instanceof CodedError) return { code: err.code, where: err.where };
    throw err;
  }
  return { code: 'none', where: {} };
}

describe('ByteCursor', () => {
  it('reads every field big-endian and knows its absolute offset', () => {
    const bytes = Uint8Array.from([
      0x01, 0x02, 0x03, 0xff, 0xff, 0xff, 0xfe, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0x41,
      0xe9,
    ]);
    const cursor = new ByteCursor(bytes, 'sample', 100);
    expect(cursor.u8()).toBe(1);
    expect(cursor.u16()).toBe(0x0203);
    expect(cursor.i32()).toBe(-2);
    expect(cursor.u32()).toBe(0xffffffff);
    expect(cursor.offset).toBe(111);
    expect(cursor.u48()).toBe(0x10002);
    expect(cursor.u64()).toBe(3 * 2 ** 32 + 4);
    expect(cursor.latin1(2)).toBe('A\u00e9');
    cursor.expectEnd();
    expect(cursor.remaining).toBe(0);
  });

  it('hands out views, also of shared memory', () => {
    const shared = new Uint8Array(new SharedArrayBuffer(8));
    shared.set([1, 2, 3, 0x61, 0x62]);
    const cursor = new ByteCursor(shared.subarray(1), 'shared');
    const raw = cursor.raw(2);
    expect(raw.buffer).toBe(shared.buffer);
    expect([...raw]).toEqual([2, 3]);
    expect(cursor.latin1(2)).toBe('ab');
  });

  it('refuses each read past the end with the place and the lengths', () => {
    const reads = ['u8', 'u16', 'u32', 'i32', 'u48', 'u64'] as const;
    for (const [i, read] of reads.entries()) {
      const size = [1, 2, 4, 4, 6, 8][i] ?? 0;
      const cursor = new ByteCursor(new Uint8Array(size - 1), 'short', 7);
      expect(caught(() => cursor[read]())).toEqual({
        code: 'HG_TRUNCATED',
        where: { what: 'short', offset: 7, wanted: size, left: size - 1 },
      });
      expect(cursor.offset).toBe(7);
    }
  });

  it.each([-1, Number.NaN, 5, 2 ** 40, Number.POSITIVE_INFINITY])(
    'refuses a length of %p without allocating',
    (length) => {
      const cursor = new ByteCursor(new Uint8Array(4), 'lengths');
      expect(caught(() => cursor.raw(length)).code).toBe('HG_TRUNCATED');
      expect(caught(() => cursor.skip(length)).code).toBe('HG_TRUNCATED');
    },
  );

  it('refuses a 64-bit number that a number cannot hold exactly', () => {
    const cursor = new ByteCursor(Uint8Array.from([0, 0x20, 0, 0, 0, 0, 0, 0]), 'wide');
    expect(caught(() => cursor.u64()).code).toBe('HG_LIMIT');
    expect(new ByteCursor(Uint8Array.from([0, 0x1f, 255, 255, 255, 255, 255, 255]), 'wide').u64()).toBe(
      Number.MAX_SAFE_INTEGER,
    );
  });

  it('refuses bytes that no field accounts for', () => {
    const cursor = new ByteCursor(new Uint8Array(3), 'left');
    cursor.skip(1);
    expect(caught(() => cursor.expectEnd())).toEqual({
      code: 'HG_CORRUPT',
      where: { what: 'left', offset: 1, left: 2 },
    });
  });
});

describe('reads at an offset', () => {
  const bytes = Uint8Array.from([0x80, 0, 0, 0, 0, 0, 0, 1, 0, 1]);
  it('agree with the cursor', () => {
    expect(readU16(bytes, 0)).toBe(0x8000);
    expect(readI32(bytes, 0)).toBe(-(2 ** 31));
    expect(readU32(bytes, 0)).toBe(2 ** 31);
    expect(readU48(bytes, 4)).toBe(0x10001);
    expect(readU64(bytes, 2)).toBe(0x10001);
  });
  it('check their bounds', () => {
    for (const read of [readU16, readI32, readU32, readU48, readU64]) {
      expect(caught(() => read(bytes, 9)).code).toBe('HG_TRUNCATED');
      expect(caught(() => read(bytes, -1)).code).toBe('HG_TRUNCATED');
    }
  });
  it('join wide integers only while they are exact', () => {
    expect(joinU64(2 ** 21 - 1, 2 ** 32 - 1)).toBe(Number.MAX_SAFE_INTEGER);
    expect(caught(() => joinU64(2 ** 21, 0)).code).toBe('HG_LIMIT');
  });
});

describe('latin1', () => {
  it('keeps each of the 256 bytes', () => {
    const all = Uint8Array.from({ length: 256 }, (_, i) => i);
    expect(latin1Bytes(latin1Text(all))).toEqual(all);
  });
  it('refuses characters that are more than a byte instead of cutting them', () => {
    expect(caught(() => latin1Bytes('a\u0141')).code).toBe('HG_CORRUPT');
  });
});
