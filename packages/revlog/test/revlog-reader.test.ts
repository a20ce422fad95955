import { Buffer } from 'node:buffer';
import { deflateSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { HgError } from '@quicksilver/hg-types';
import { seededRandom } from '@quicksilver/testing';
import { bytesAccess, RevlogIndex, RevlogReader, walkRevlog } from '../src/index.ts';
import { goldenRevlogs } from './golden-revlogs.ts';
import { delta, INLINE, INLINE_GENERALDELTA, type MadeEntry, makeRevlog, raw, reader, SPLIT } from './make-revlog.ts';

const textOf = (
  entries: readonly MadeEntry[],
  { header = INLINE_GENERALDELTA, rev = entries.length - 1, maxText = 1000 } = {},
): string => Buffer.from(reader(makeRevlog(header, entries), maxText).text(rev)).toString();

const first: MadeEntry = { chunk: raw('0123456789'), textLength: 10 };

describe('texts', () => {
  it.each<[string, Buffer]>([
    ['raw', raw('some text')],
    ['zlib', deflateSync('some text')],
    ['zstd', zstdCompressSync('some text')],
  ])('are read from %s chunks', (_, chunk) => expect(textOf([{ chunk, textLength: 9 }])).toBe('some text'));

  it('that begin with a zero byte are stored as they are', () => {
    expect(textOf([{ chunk: Buffer.from('\0abc'), textLength: 4 }])).toBe('\0abc');
  });

  it('with generaldelta build on the base that is named', () => {
    expect(
      textOf([
        first,
        { ...first, chunk: raw('other'), textLength: 5 },
        { chunk: delta([0, 1, 'x']), textLength: 10, base: 0 },
      ]),
    ).toBe('x123456789');
  });

  it('without it build on the revision before, from where the chain starts', () => {
    const chain = [
      first,
      { chunk: delta([0, 1, 'x']), textLength: 10, base: 0 },
      { chunk: delta([1, 2, 'y']), textLength: 10, base: 0 },
    ];
    expect(textOf(chain, { header: INLINE })).toBe('xy23456789');
  });

  it('of the null revision are empty', () => {
    expect(reader(makeRevlog(INLINE, [first])).text(-1)).toHaveLength(0);
  });

  it('whose length was not recorded are read as long as they are', () => {
    expect(textOf([{ ...first, textLength: -1 }])).toBe('0123456789');
  });

  it('of long chains do not need a stack as deep', () => {
    const chain = Array.from({ length: 20_000 }, (_, rev) =>
      rev === 0 ? first : { chunk: delta([9, 10, 'z']), textLength: 10, base: rev - 1 },
    );
    expect(textOf(chain)).toBe('012345678z');
  });
});

describe('what is wrong is a typed error with file and revision', () => {
  it.each<[string, MadeEntry[], string]>([
    ['a base that is no earlier revision', [first, { ...first, base: 5 }], 'HG_CORRUPT'],
    ['a base below "none"', [first, { ...first, base: -3 }], 'HG_CORRUPT'],
    ['a longer text than announced', [{ chunk: raw('01234567890'), textLength: 10 }], 'HG_CORRUPT'],
    ['a shorter text than announced', [{ chunk: raw('012345678'), textLength: 10 }], 'HG_CORRUPT'],
    ['a delta that gives another length', [first, { chunk: delta([0, 1, '']), textLength: 10, base: 0 }], 'HG_CORRUPT'],
    ['a chunk that begins with no mark', [{ chunk: Buffer.from('?123'), textLength: 4 }], 'HG_CORRUPT'],
    ['a zlib chunk that is damaged', [{ chunk: Buffer.from('x\x9c\0\0\0'), textLength: 4 }], 'HG_CORRUPT'],
    ['a zlib chunk that is cut', [{ chunk: deflateSync('some text').subarray(0, -3), textLength: 9 }], 'HG_TRUNCATED'],
    ['a zstd chunk that is damaged', [{ chunk: Buffer.from('(garbage'), textLength: 4 }], 'HG_CORRUPT'],
    [
      'a zstd chunk that is cut',
      [{ chunk: zstdCompressSync('some text').subarray(0, -3), textLength: 9 }],
      'HG_TRUNCATED',
    ],
    [
      'a zlib chunk with bytes behind it',
      [{ chunk: Buffer.concat([deflateSync('some text'), Buffer.from('x')]), textLength: 9 }],
      'HG_CORRUPT',
    ],
    [
      'a chunk that expands to more than announced',
      [{ chunk: zstdCompressSync(Buffer.alloc(900)), textLength: 9 }],
      'HG_CORRUPT',
    ],
    ['a text over the limit', [{ chunk: zstdCompressSync(Buffer.alloc(2000)), textLength: 2000 }], 'HG_LIMIT'],
    [
      'a delta over the limit',
      [first, { chunk: zstdCompressSync(Buffer.alloc(2000)), textLength: 10, base: 0 }],
      'HG_LIMIT',
    ],
    ['a chunk over the limit', [{ chunk: raw('x'.repeat(2000)), textLength: 5 }], 'HG_LIMIT'],
  ])('%s', (_, entries, code) => {
    expect(() => textOf(entries)).toThrow(
      expect.objectContaining({ code, where: expect.objectContaining({ file: 'made', rev: entries.length - 1 }) }),
    );
  });

  it('a data file that is missing', () => {
    const { index } = makeRevlog(SPLIT, [first]);
    const revlog = new RevlogReader(RevlogIndex.parse(index, 'made'), undefined);
    expect(() => revlog.text(0)).toThrow(
      expect.objectContaining({ code: 'HG_CORRUPT', where: { file: 'made', rev: 0 } }),
    );
  });

  it('a text that does not give its node', () => {
    const revlog = reader(makeRevlog(INLINE, [first]));
    expect(() => revlog.checkHash(0)).toThrow(
      expect.objectContaining({
        code: 'HG_CORRUPT',
        where: expect.objectContaining({ rev: 0, node: expect.any(String), found: expect.any(String) }),
      }),
    );
  });

  it('a failed read leaves the text at hand in order', () => {
    const revlog = reader(
      makeRevlog(INLINE_GENERALDELTA, [
        first,
        { chunk: raw('bad'), textLength: 9 },
        { chunk: delta([0, 1, 'x']), textLength: 10, base: 0 },
      ]),
    );
    revlog.text(0);
    expect(() => revlog.text(1)).toThrow(HgError);
    expect(Buffer.from(revlog.text(2)).toString()).toBe('x123456789');
  });
});

describe('random damage', () => {
  it.each(
    goldenRevlogs()
      .filter(({ index }) => index.length < 8000)
      .map((revlog) => [revlog.name, revlog] as const),
  )('to %s ends in typed errors only, in bounded time', (name, { index, data }) => {
    const random = seededRandom(name.length * 7919);
    for (let round = 0; round < 60; round++) {
      const bad = { index: damage(index, random), data: data && damage(data, random) };
      expect(() => readAll(bad, name)).not.toThrow(TypeError);
    }
  });
});

function damage(bytes: Uint8Array, random: ReturnType<typeof seededRandom>): Buffer {
  const copy = Buffer.from(bytes);
  for (let flips = random.int(0, 4); flips > 0 && copy.length > 0; flips--)
    copy[random.int(0, copy.length)] = random.int(0, 256);
  return random.next() < 0.2 ? copy.subarray(0, random.int(0, copy.length + 1)) : copy;
}

/** Walks and reads everything; typed errors are what is expected, anything else comes out. */
function readAll({ index, data }: { index: Uint8Array; data: Uint8Array | undefined }, name: string): void {
  const access = data && bytesAccess(data, name);
  const parsed = typed(() => RevlogIndex.parse(index, name));
  if (parsed === undefined) return;
  typed(() => walkRevlog(parsed, { data: access }));
  typed(() => parsed.findNode(new Uint8Array(20)));
  typed(() => parsed.heads());
  const revlog = new RevlogReader(parsed, access, 100_000);
  for (let rev = 0; rev < parsed.length; rev++) typed(() => revlog.checkHash(rev));
}

function typed<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (err) {
    if (err instanceof HgError && err.code !== 'HG_INTERNAL') return undefined;
    throw new TypeError('an error that is not typed', { cause: err });
  }
}
