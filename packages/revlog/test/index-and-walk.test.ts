import { Buffer } from 'node:buffer';
import { describe, expect, it } from '@jest/globals';
import type { HgErrorCode } from '@quicksilver/hg-types';
import { fixture } from '@quicksilver/testing';
import { bytesAccess, RevlogIndex, type WalkOptions, walkRevlog } from '../src/index.ts';
import {
  INLINE,
  INLINE_GENERALDELTA,
  type MadeEntry,
  type MadeRevlog,
  makeRevlog,
  raw,
  SPLIT,
  SPLIT_GENERALDELTA,
} from './make-revlog.ts';

const good: MadeEntry = { chunk: raw('text'), textLength: 4 };
const fault = (code: HgErrorCode, where: object = {}) =>
  expect.objectContaining({ code, where: expect.objectContaining({ file: 'made', ...where }) });

function walk({ index, data }: MadeRevlog, options: WalkOptions = {}): ReturnType<typeof walkRevlog> {
  return walkRevlog(RevlogIndex.parse(index, 'made'), { data: bytesAccess(data, 'made.d'), ...options });
}

describe('K010: versions and flags of the header', () => {
  const withHeader = (header: number): Buffer => makeRevlog(header, [good]).index;

  it.each([
    ['version 0', 0x00000000, { version: '0x0' }],
    ['version 0 with a flag', 0x00010000, { version: '0x0', header: '0x10000' }],
    ['an unknown version', 0x00000002, { version: '0x2' }],
    ['revlog version 2', 0x0000dead, { version: '0xdead' }],
    ['an unknown flag on version 1', 0x00110001, { flags: '0x10', header: '0x110001' }],
    ['all flags on version 1', 0xffff0001, { flags: '0xfff0' }],
  ])('%s is refused with file and value', (_, header, where) => {
    expect(() => RevlogIndex.parse(withHeader(header), 'made')).toThrow(fault('HG_UNSUPPORTED', where));
  });

  it('a changelog of version 2 is refused by name, not read as something else', () => {
    expect(() => RevlogIndex.parse(fixture('misc/clv2.00changelog.i'), 'made')).toThrow(
      fault('HG_UNSUPPORTED', { version: '0xd34d' }),
    );
  });

  it('a header alone, or less, is a cut index', () => {
    for (const size of [1, 2, 3, 4, 63]) {
      expect(() => RevlogIndex.parse(withHeader(SPLIT).subarray(0, size), 'made')).toThrow(fault('HG_TRUNCATED'));
    }
  });

  it('K006: an empty index is a revlog without revisions', () => {
    const index = RevlogIndex.parse(new Uint8Array(0), 'made');
    expect([index.length, index.heads(), index.findNode(new Uint8Array(20))]).toEqual([0, [], undefined]);
    expect(walkRevlog(index)).toMatchObject({ revisions: 0, storedBytes: 0 });
  });
});

describe('the walk refuses, with file, revision and offset', () => {
  const second = (entry: Partial<MadeEntry>): MadeRevlog =>
    makeRevlog(SPLIT_GENERALDELTA, [good, { ...good, ...entry }, good]);

  it.each<[string, Partial<MadeEntry>, HgErrorCode]>([
    ['a gap before a chunk', { offset: 6 }, 'HG_CORRUPT'],
    ['a chunk over the one before it', { offset: 0 }, 'HG_CORRUPT'],
    ['an offset beyond all files', { offset: 2 ** 48 - 1 }, 'HG_CORRUPT'],
    ['a negative stored length', { storedLength: -1 }, 'HG_CORRUPT'],
    ['a stored length beyond the data', { storedLength: 2 ** 31 - 1 }, 'HG_TRUNCATED'],
    ['a text length below "not recorded"', { textLength: -2 }, 'HG_CORRUPT'],
    ['a base after the revision', { base: 2 }, 'HG_CORRUPT'],
    ['a base below "none"', { base: -2 }, 'HG_CORRUPT'],
    ['a first parent that is the revision itself', { p1: 1 }, 'HG_CORRUPT'],
    ['a first parent below "none"', { p1: -2 }, 'HG_CORRUPT'],
    ['a second parent after the revision', { p2: 2 }, 'HG_CORRUPT'],
    ['a second parent below "none"', { p2: -(2 ** 31) }, 'HG_CORRUPT'],
    ['a negative link', { link: -1 }, 'HG_CORRUPT'],
    ['a flag that is not known', { flags: 0x0001 }, 'HG_UNSUPPORTED'],
    ['a note about deltas where the header has none', { flags: 0x0400 }, 'HG_UNSUPPORTED'],
    ['a chunk that begins with no mark', { chunk: Buffer.from('text!') }, 'HG_CORRUPT'],
    ['a text without bytes', { chunk: Buffer.alloc(0) }, 'HG_CORRUPT'],
  ])('%s', (_, entry, code) => {
    expect(() => walk(second(entry))).toThrow(fault(code, { rev: 1, offset: expect.any(Number) }));
  });

  it('a first chunk that does not begin at the start', () => {
    const made = makeRevlog(SPLIT, [good]);
    made.index.writeUInt16BE(1, 4);
    expect(() => walk(made)).toThrow(fault('HG_CORRUPT', { rev: 0 }));
  });

  it('a stored length that the next entry contradicts, at the next entry', () => {
    expect(() => walk(second({ storedLength: 4 }))).toThrow(fault('HG_CORRUPT', { rev: 2, got: 10, expected: 9 }));
  });

  it('data that goes on after the last revision', () => {
    const { index, data } = makeRevlog(SPLIT, [good]);
    expect(() => walk({ index, data: Buffer.concat([data, Buffer.from('x')]) })).toThrow(
      fault('HG_CORRUPT', { offset: 5, size: 6 }),
    );
  });

  it('a split index without data', () => {
    const { index } = makeRevlog(SPLIT, [good]);
    expect(() => walkRevlog(RevlogIndex.parse(index, 'made'))).toThrow(fault('HG_TRUNCATED', { rev: 0 }));
  });

  it('a link to a changeset that is not there, and in a changelog any link but its own', () => {
    const made = makeRevlog(INLINE, [good, { ...good, link: 7 }]);
    expect(walk(made, { links: 8 }).revisions).toBe(2);
    expect(() => walk(made, { links: 7 })).toThrow(fault('HG_CORRUPT', { rev: 1, link: 7 }));
    expect(() => walk(made, { links: 'own' })).toThrow(fault('HG_CORRUPT', { rev: 1, link: 7, offset: 69 }));
  });

  it('in an inline index lengths that lead out of it or backwards', () => {
    for (const [storedLength, code] of [
      [2 ** 31 - 1, 'HG_TRUNCATED'],
      [-1, 'HG_CORRUPT'],
      [-(2 ** 31), 'HG_CORRUPT'],
    ] as const) {
      const { index } = makeRevlog(INLINE, [{ ...good, storedLength }]);
      expect(() => RevlogIndex.parse(index, 'made')).toThrow(fault(code));
    }
  });
});

describe('the walk accepts', () => {
  it.each<[string, number, MadeEntry[]]>([
    ['parents that are missing or only second, as copies have', INLINE, [good, { ...good, p1: -1, p2: 0 }]],
    ['a base of "none" for a full text', SPLIT_GENERALDELTA, [{ ...good, base: -1 }]],
    ['a text length that was not recorded', INLINE, [{ ...good, textLength: -1 }]],
    ['an empty text', INLINE_GENERALDELTA, [{ chunk: Buffer.alloc(0), textLength: 0 }]],
    ['an empty delta', INLINE_GENERALDELTA, [good, { chunk: Buffer.alloc(0), textLength: 4, base: 0 }]],
    ['storage flags', INLINE, [0x8000, 0x4000, 0x2000, 0x1000].map((flags) => ({ ...good, flags }))],
    ['notes about deltas where the header has them', 0x000f0001, [{ ...good, flags: 0x0fc0 }]],
  ])('%s', (_, header, entries) => {
    expect(walk(makeRevlog(header, entries)).revisions).toBe(entries.length);
  });

  it('large chunks by one short read each, small ones by one read for many', () => {
    for (const size of [10, 50_000]) {
      const made = makeRevlog(
        SPLIT,
        Array.from({ length: 40 }, () => ({ chunk: raw('x'.repeat(size)), textLength: size })),
      );
      let reads = 0;
      let bytes = 0;
      const inner = bytesAccess(made.data, 'made.d');
      const counted = {
        size: inner.size,
        read(offset: number, length: number) {
          reads += 1;
          bytes += length;
          return inner.read(offset, length);
        },
      };
      expect(walkRevlog(RevlogIndex.parse(made.index, 'made'), { data: counted }).chunks.raw).toBe(40);
      expect(reads).toBe(size === 10 ? 1 : 40);
      expect(bytes).toBeLessThanOrEqual(Math.max(made.data.length / 10, 440));
    }
  });

  it('chunks unseen where the caller does not want to look', () => {
    const made = makeRevlog(SPLIT, [{ ...good, chunk: Buffer.from('?????') }]);
    expect(walk(made, { chunks: false }).storedBytes).toBe(5);
  });
});

describe('heads, parents and nodes', () => {
  const made = makeRevlog(INLINE, [good, good, { ...good, p1: 0 }, { ...good, p1: 1, p2: 2 }, { ...good, p1: 0 }]);
  const index = RevlogIndex.parse(made.index, 'made');

  it('heads are revisions that are nobody’s parent', () => {
    expect(index.heads()).toEqual([3, 4]);
  });

  it('parents come as columns', () => {
    const { p1, p2 } = index.parentColumns();
    expect([[...p1], [...p2]]).toEqual([
      [-1, 0, 0, 1, 0],
      [-1, -1, -1, 2, -1],
    ]);
  });

  it('a revision that is not there is a typed error', () => {
    for (const rev of [-1, 5, 0.5, Number.NaN]) {
      expect(() => index.entry(rev)).toThrow(fault('HG_CORRUPT', { revisions: 5 }));
      expect(() => index.nodeAt(rev)).toThrow(fault('HG_CORRUPT', { revisions: 5 }));
    }
  });

  it('two revisions with one node are refused when nodes are looked up', () => {
    const node = new Uint8Array(20).fill(7);
    const twice = makeRevlog(INLINE, [{ ...good, node }, good, { ...good, node }]);
    expect(() => RevlogIndex.parse(twice.index, 'made').findNode(node)).toThrow(
      fault('HG_CORRUPT', { rev: 2, other: 0 }),
    );
  });

  it('nodes that are no digests are found as fast as others', () => {
    const entries = Array.from({ length: 20_000 }, (_, rev) => {
      const node = Buffer.alloc(20);
      node.writeUInt32BE(rev, 16);
      return { chunk: Buffer.alloc(0), textLength: 0, node };
    });
    const many = RevlogIndex.parse(makeRevlog(SPLIT, entries).index, 'made');
    const started = performance.now();
    for (let rev = 0; rev < many.length; rev++)
      if (many.findNode(many.nodeAt(rev)) !== rev) throw new Error(`lost ${rev}`);
    expect(performance.now() - started).toBeLessThan(5000);
  });
});

describe('a million entries', () => {
  it('are walked in well under a second, without an object for each', () => {
    const count = 1_000_000;
    const index = Buffer.alloc(count * 64);
    for (let rev = 0; rev < count; rev++) {
      const at = rev * 64;
      index.writeInt32BE(rev, at + 16);
      index.writeInt32BE(rev, at + 20);
      index.writeInt32BE(rev - 1, at + 24);
      index.writeInt32BE(-1, at + 28);
      index.writeUInt32BE(rev, at + 48);
    }
    index.writeUInt32BE(SPLIT, 0);
    const started = performance.now();
    const parsed = RevlogIndex.parse(index, 'made');
    expect(walkRevlog(parsed, { links: 'own' }).revisions).toBe(count);
    expect(parsed.heads()).toEqual([count - 1]);
    expect(performance.now() - started).toBeLessThan(3000);
  });
});
