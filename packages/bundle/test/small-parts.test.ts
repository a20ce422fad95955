import { describe, expect, it } from '@jest/globals';
import { PHASE } from '@quicksilver/hg-types';
import {
  PayloadCollector,
  quote,
  readBookmarks,
  readPhaseHeads,
  unquote,
  writeBookmarks,
  writePhaseHeads,
} from '../src/index.ts';
import { codeOf } from './support/reading.ts';

const node = (byte: number): Uint8Array => new Uint8Array(20).fill(byte);

describe('phase heads', () => {
  const heads = Object.values(PHASE).map((phase, i) => ({ phase, node: node(i) }));
  const payload = writePhaseHeads(heads);

  it('come back, in entries of 24 bytes', () => {
    expect(payload.length).toBe(24 * heads.length);
    expect(readPhaseHeads(payload)).toEqual(heads);
    expect(readPhaseHeads(new Uint8Array(0))).toEqual([]);
  });

  it('are refused at every cut inside an entry', () => {
    for (let cut = 1; cut < payload.length; cut++) {
      expect(codeOf(() => readPhaseHeads(payload.subarray(0, cut)))).toBe(cut % 24 === 0 ? 'ok' : 'HG_CORRUPT');
    }
  });

  it.each([3, 77, -1])('do not have phase %i', (phase) => {
    const bad = payload.slice(0, 24);
    new DataView(bad.buffer).setInt32(0, phase);
    expect(codeOf(() => readPhaseHeads(bad))).toBe('HG_CORRUPT');
  });

  it('do not hold on to the payload', () => {
    const copy = payload.slice();
    const [first] = readPhaseHeads(copy);
    copy.fill(9);
    expect(first?.node).toEqual(node(0));
  });
});

describe('bookmarks', () => {
  const marks = [
    { name: 'a', node: node(1) },
    { name: 'gone', node: undefined },
    { name: 'K057 caf\xc3\xa9 / .. "x"', node: node(2) },
  ];
  const payload = writeBookmarks(marks);

  it('come back, deletions and names of any bytes too', () => {
    expect(readBookmarks(payload)).toEqual(marks);
    expect(readBookmarks(new Uint8Array(0))).toEqual([]);
  });

  it('are refused at every cut inside an entry', () => {
    const ends = new Set([0, 23, 23 + 26, payload.length]);
    for (let cut = 0; cut <= payload.length; cut++) {
      expect(codeOf(() => readBookmarks(payload.subarray(0, cut)))).toBe(ends.has(cut) ? 'ok' : 'HG_TRUNCATED');
    }
  });

  it.each(['', 'a\nb', 'a\rb', 'a\0b'])('are not named %j', (name) => {
    expect(codeOf(() => readBookmarks(writeBookmarks([{ name, node: node(1) }])))).toBe('HG_CORRUPT');
  });

  it('have names that their length field can hold', () => {
    expect(codeOf(() => writeBookmarks([{ name: 'n'.repeat(65_536), node: node(1) }]))).toBe('HG_LIMIT');
  });
});

describe('PayloadCollector', () => {
  it('brings pieces together up to its limit', () => {
    const seen: number[] = [];
    const collector = new PayloadCollector({ limit: 3000, part: 'x', done: (payload) => seen.push(payload.length) });
    for (let i = 0; i < 3000; i++) collector.data(Uint8Array.of(i & 0xff));
    expect(collector.payload).toBeUndefined();
    collector.end();
    expect(seen).toEqual([3000]);
    expect(collector.payload).toEqual(Uint8Array.from({ length: 3000 }, (_, i) => i & 0xff));
  });

  it('refuses the first byte too many, whatever its piece', () => {
    const collector = new PayloadCollector({ limit: 10, part: 'x' });
    collector.data(new Uint8Array(10));
    expect(codeOf(() => collector.data(new Uint8Array(1)))).toBe('HG_LIMIT');
    expect(codeOf(() => new PayloadCollector({ limit: 10, part: 'x' }).data(new Uint8Array(11)))).toBe('HG_LIMIT');
  });

  it('keeps a copy', () => {
    const collector = new PayloadCollector({ limit: 10, part: 'x' });
    const piece = Uint8Array.of(1, 2);
    collector.data(piece);
    piece.fill(9);
    collector.end();
    expect(collector.payload).toEqual(Uint8Array.of(1, 2));
  });
});

describe('quoting', () => {
  it('comes back for each byte', () => {
    const all = Array.from({ length: 256 }, (_, i) => String.fromCharCode(i)).join('');
    expect(unquote(quote(all))).toBe(all);
    expect(quote('a b,c=%/~é')).toBe('a%20b%2Cc%3D%25/~%E9');
  });

  it('leaves a percent sign alone that quotes nothing', () => {
    expect(unquote('100% %zz %4 %41')).toBe('100% %zz %4 A');
  });
});

describe('nodes of small parts', () => {
  it('are copies, also when the payload is a Buffer over a block that is filled again', () => {
    const bookmarks = Buffer.from(writeBookmarks([{ name: 'a', node: new Uint8Array(20).fill(7) }]));
    const phases = Buffer.from(writePhaseHeads([{ phase: 1, node: new Uint8Array(20).fill(7) }]));
    const [bookmark] = readBookmarks(bookmarks);
    const [head] = readPhaseHeads(phases);
    bookmarks.fill(0);
    phases.fill(0);
    expect(bookmark?.node).toEqual(new Uint8Array(20).fill(7));
    expect(head?.node).toEqual(new Uint8Array(20).fill(7));
  });
});
