import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RevlogFiles, revisionHash, walkRevlog } from '../src/index.ts';
import { type MadeEntry, makeRevlog, raw, SPLIT } from './make-revlog.ts';

/** Enough for index and data to be mapped. */
const REVISIONS = 17_000;
const TEXT = 80;

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'qs-revlog-'));
  let parent = new Uint8Array(20);
  const entries = Array.from({ length: REVISIONS }, (_, rev): MadeEntry => {
    const text = String(rev).padEnd(TEXT, '.');
    const node = revisionHash(parent, new Uint8Array(20), Buffer.from(text));
    parent = new Uint8Array(node);
    return { chunk: raw(text), textLength: TEXT, node };
  });
  const { index, data } = makeRevlog(SPLIT, entries);
  writeFileSync(join(folder, 'log.i'), index);
  writeFileSync(join(folder, 'log.d'), data);
});
afterAll(() => rmSync(folder, { recursive: true }));

const open = (stable: 'staging' | undefined) => RevlogFiles.open(folder, 'log', { stable });
const mapped = () =>
  readFileSync('/proc/self/maps', 'utf8')
    .split('\n')
    .filter((line) => line.includes(folder)).length;

function codeOf(use: () => unknown): unknown {
  try {
    use();
    return 'no fault';
  } catch (err) {
    return (err as { code?: unknown }).code;
  }
}

describe("a revlog of a folder of one's own", () => {
  it('is mapped, and is the same as one that is read', () => {
    using one = open('staging');
    expect(mapped()).toBe(2);
    using other = open(undefined);
    expect(mapped()).toBe(2);
    const facts = ({ index, data }: RevlogFiles) => ({
      walk: walkRevlog(index, { data, links: 'own' }),
      heads: index.heads(),
      file: Buffer.from(index.file).equals(readFileSync(join(folder, 'log.i'))),
      found: index.findNode(index.nodeAt(12_345)),
    });
    expect(facts(one)).toEqual(facts(other));
    const [a, b] = [one.reader(), other.reader()];
    for (let rev = 0; rev < REVISIONS; rev += 7) {
      expect(a.checkHash(rev)).toBe('same');
      expect(Buffer.compare(a.text(rev), b.text(rev))).toBe(0);
    }
  });

  it('is not to be had after it was closed: nothing of it points at memory that is gone', () => {
    const revlog = open('staging');
    const reader = revlog.reader();
    const node = revlog.index.nodeAt(5);
    const text = reader.text(5);
    revlog[Symbol.dispose]();
    expect([node.length, text.length]).toEqual([0, 0]);
    expect(codeOf(() => revlog.data?.read(0, 1))).toBe('HG_CLOSED');
    expect(() => reader.text(6)).toThrow();
  });

  it('K040: cut before it is opened, at every place of its last two entries', () => {
    const path = join(folder, 'log.i');
    const whole = readFileSync(path);
    try {
      for (let size = whole.length - 1; size >= whole.length - 128; size--) {
        truncateSync(path, size);
        const use = () => {
          using revlog = open('staging');
          walkRevlog(revlog.index, { data: revlog.data, links: 'own' });
        };
        // Inside an entry; or between two, where the data goes on after the last one.
        expect(codeOf(use)).toBe(size % 64 === 0 ? 'HG_CORRUPT' : 'HG_TRUNCATED');
      }
    } finally {
      writeFileSync(path, whole);
    }
  });
});
