import { Buffer } from 'node:buffer';
import { describe, expect, it } from '@jest/globals';
import { seededRandom } from '@quicksilver/testing';
import { applyPatch } from '../src/index.ts';
import { delta, INLINE_GENERALDELTA, makeRevlog, raw, reader, words } from './make-revlog.ts';

const base = Buffer.from('0123456789');
const apply = (bytes: Buffer, maxBytes = 1000): string =>
  Buffer.from(applyPatch(base, bytes, { maxBytes, where: { file: 'f', rev: 3 } })).toString();

describe('deltas', () => {
  it.each<[string, Buffer, string]>([
    ['nothing', delta(), '0123456789'],
    ['a replacement', delta([2, 4, 'ABC']), '01ABC456789'],
    ['an insertion', delta([5, 5, '-']), '01234-56789'],
    ['a deletion', delta([0, 10, '']), ''],
    ['the whole', delta([0, 10, 'new']), 'new'],
    ['an end', delta([10, 10, '!']), '0123456789!'],
    ['hunks that touch', delta([1, 2, 'a'], [2, 3, 'b'], [3, 3, 'c']), '0abc3456789'],
    ['first and last', delta([0, 1, 'x'], [9, 10, 'y']), 'x12345678y'],
  ])('replace %s', (_, bytes, expected) => expect(apply(bytes)).toBe(expected));

  it('do what splicing does, for random hunks', () => {
    const random = seededRandom(107);
    for (let round = 0; round < 300; round++) {
      const hunks: [number, number, string][] = [];
      let expected = '';
      let from = 0;
      while (from < base.length && random.next() < 0.7) {
        const start = random.int(from, base.length + 1);
        const end = random.int(start, base.length + 1);
        const text = 'x'.repeat(random.int(0, 5));
        hunks.push([start, end, text]);
        expected += base.toString('latin1', from, start) + text;
        from = end;
      }
      expect(apply(delta(...hunks))).toBe(expected + base.toString('latin1', from));
    }
  });
});

describe('K107: malformed deltas are typed errors with file and revision', () => {
  it.each<[string, Buffer]>([
    ['start over end', words(5, 4, 0)],
    ['start over end, twisted signs', words(5, -5, 0)],
    ['a negative start', words(-1, 2, 0)],
    ['the smallest start', words(-(2 ** 31), 0, 0)],
    ['hunks out of order', delta([5, 6, 'a'], [2, 3, 'b'])],
    ['overlapping hunks', delta([2, 6, 'a'], [5, 8, 'b'])],
    ['an end beyond the base', delta([5, 11, 'a'])],
    ['a start beyond the base', delta([11, 11, 'a'])],
    ['the largest end', words(0, 2 ** 31 - 1, 0)],
    ['a length beyond the delta', Buffer.concat([words(0, 0, 5), Buffer.from('abcd')])],
    ['the largest length', words(0, 0, 2 ** 31 - 1)],
    ['a negative length', words(0, 0, -1)],
    ['a length that points back at its own header', words(0, 0, -12)],
    ['a second hunk cut in its header', Buffer.concat([delta([0, 1, 'a']), words(2, 3)])],
  ])('%s', (_, bytes) => {
    expect(() => apply(bytes)).toThrow(
      expect.objectContaining({
        code: 'HG_CORRUPT',
        where: expect.objectContaining({ file: 'f', rev: 3, deltaOffset: expect.any(Number) }),
      }),
    );
  });

  it.each([1, 4, 8, 11])('a header cut to %d bytes', (size) => {
    expect(() => apply(words(0, 1, 0).subarray(0, size))).toThrow(expect.objectContaining({ code: 'HG_CORRUPT' }));
  });

  it('a result over the limit is refused before it is allocated', () => {
    expect(() => apply(delta([0, 0, 'x'.repeat(20)]), 29)).toThrow(expect.objectContaining({ code: 'HG_LIMIT' }));
    expect(apply(delta([0, 0, 'x'.repeat(20)]), 30)).toHaveLength(30);
  });

  it('in a revlog: the revision is named and others stay readable', () => {
    const made = makeRevlog(INLINE_GENERALDELTA, [
      { chunk: raw('0123456789'), textLength: 10 },
      { chunk: words(0, 11, 0), textLength: 0, base: 0 },
      { chunk: delta([0, 1, 'x']), textLength: 10, base: 0 },
    ]);
    const revlog = reader(made);
    expect(() => revlog.text(1)).toThrow(
      expect.objectContaining({ code: 'HG_CORRUPT', where: expect.objectContaining({ file: 'made', rev: 1 }) }),
    );
    expect(Buffer.from(revlog.text(2)).toString()).toBe('x123456789');
  });
});
