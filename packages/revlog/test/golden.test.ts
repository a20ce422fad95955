import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { HgError, hexNode } from '@quicksilver/hg-types';
import { fixtureJson } from '@quicksilver/testing';
import {
  bytesAccess,
  chunkKind,
  type RandomAccess,
  RevlogIndex,
  RevlogReader,
  requirementsOfHeader,
  revisionHash,
  revisionText,
  walkRevlog,
} from '../src/index.ts';
import { type GoldenEntry, goldenRevlogs, isRecord, type RevlogFixture } from './golden-revlogs.ts';

const KIND_NAMES = { raw: 'u', plain: '0x00', zlib: 'zlib', zstd: 'zstd' } as const;

function access({ name, data }: RevlogFixture): RandomAccess | undefined {
  return data && bytesAccess(data, `${name}.d`);
}

/** Every fact of an entry, found by this package alone, in the words of the sidecar. */
function facts(revlog: RevlogFixture): GoldenEntry[] {
  const index = RevlogIndex.parse(revlog.index, revlog.name);
  const reader = new RevlogReader(index, access(revlog));
  return Array.from({ length: index.length }, (_, rev) => {
    const entry = index.entry(rev);
    const text = reader.text(rev);
    const parents = [reader.parentNode(entry.p1), reader.parentNode(entry.p2)] as const;
    const chunkFile = index.inline ? revlog.index : revlog.data;
    const kind = chunkKind(chunkFile?.[index.chunkStart(rev)] ?? -1);
    return {
      rev,
      offset: entry.offset,
      flags: entry.flags,
      clen: entry.storedLength,
      ulen: entry.textLength,
      base: entry.base,
      link: entry.linkRev,
      p1: entry.p1,
      p2: entry.p2,
      node: hexNode(entry.node),
      chunk_type: entry.storedLength === 0 || kind === undefined ? 'empty' : KIND_NAMES[kind],
      text_sha256: createHash('sha256').update(text).digest('hex'),
      size_ok: text.length === entry.textLength,
      hash_ok: hexNode(revisionHash(...parents, text)) === hexNode(entry.node),
    };
  });
}

describe.each(goldenRevlogs().map((revlog) => [revlog.name, revlog] as const))('%s', (_, revlog) => {
  it('has every entry, text and hash that its sidecar names', () => {
    const index = RevlogIndex.parse(revlog.index, revlog.name);
    expect({
      version: `0x${index.header.value.toString(16).padStart(8, '0')}`,
      inline: index.inline,
      generaldelta: index.generaldelta,
      revs: index.length,
    }).toEqual({
      version: revlog.facts.version,
      inline: revlog.facts.inline,
      generaldelta: revlog.facts.generaldelta,
      revs: revlog.facts.revs,
    });
    expect(facts(revlog)).toEqual(revlog.facts.entries);
  });

  it('passes the walk, with the sums of its entries', () => {
    const { entries } = revlog.facts;
    const index = RevlogIndex.parse(revlog.index, revlog.name);
    const links = revlog.name.startsWith('changelog') ? 'own' : 1000;
    const report = walkRevlog(index, { data: access(revlog), links });
    expect(report).toMatchObject({
      revisions: entries.length,
      storedBytes: entries.reduce((sum, { clen }) => sum + clen, 0),
      textBytes: entries.reduce((sum, { ulen }) => sum + ulen, 0),
      censored: entries.filter(({ flags }) => (flags & 0x8000) !== 0).length,
    });
    expect(report.storedBytes).toBe(revlog.facts.data_size ?? report.storedBytes);
    for (const [kind, name] of [...Object.entries(KIND_NAMES), ['empty', 'empty'] as const]) {
      expect([kind, Reflect.get(report.chunks, kind)]).toEqual([
        kind,
        entries.filter((entry) => entry.chunk_type === name).length,
      ]);
    }
  });

  it('finds each node again, and no other', () => {
    const index = RevlogIndex.parse(revlog.index, revlog.name);
    for (let rev = 0; rev < index.length; rev++) {
      const node = index.nodeAt(rev);
      expect(index.findNode(node)).toBe(rev);
      const other = node.slice();
      other[19] = (other[19] ?? 0) ^ 1;
      expect(index.findNode(other)).toBeUndefined();
    }
    expect(index.findNode(new Uint8Array(20))).toBeUndefined();
    expect(index.findNode(new Uint8Array(19))).toBeUndefined();
  });

  it('has the texts in whatever order they are asked for', () => {
    const source = { index: revlog.index, data: access(revlog), name: revlog.name };
    const reader = RevlogReader.open(source);
    for (const { rev, text_sha256 } of [...revlog.facts.entries].reverse()) {
      expect(createHash('sha256').update(reader.text(rev)).digest('hex')).toBe(text_sha256);
    }
    const last = revlog.facts.entries.at(-1);
    if (last) expect(Buffer.compare(revisionText(source, last.rev, 2_000_000), reader.text(last.rev))).toBe(0);
  });

  it('checks hashes, but for revisions that are flagged as stored otherwise', () => {
    const reader = new RevlogReader(RevlogIndex.parse(revlog.index, revlog.name), access(revlog));
    for (const { rev, hash_ok } of revlog.facts.entries)
      expect(reader.checkHash(rev)).toBe(hash_ok ? 'same' : 'unhashed');
  });
});

describe('every cut', () => {
  const small = goldenRevlogs().filter(({ index }) => index.length < 4000);

  it.each(small.map((revlog) => [revlog.name, revlog] as const))(
    'of the index of %s is refused, or leaves whole revisions',
    (_, revlog) => {
      const whole = facts(revlog);
      for (let size = 0; size < revlog.index.length; size++) {
        const cut = { ...revlog, index: revlog.index.subarray(0, size) };
        const outcome = attempt(() => {
          walkRevlog(RevlogIndex.parse(cut.index, cut.name), { data: access(cut) });
          return facts(cut);
        });
        // Between two revisions of an inline revlog nothing shows that there were more; nothing else may pass.
        if (typeof outcome === 'string') expect(outcome).toMatch(/^HG_(TRUNCATED|CORRUPT)$/);
        else expect([revlog.facts.inline, outcome]).toEqual([true, whole.slice(0, outcome.length)]);
      }
    },
  );

  it.each(small.filter(({ data }) => data && data.length < 4000).map((revlog) => [revlog.name, revlog] as const))(
    'of the data of %s is refused',
    (_, revlog) => {
      const index = RevlogIndex.parse(revlog.index, revlog.name);
      for (let size = 0; size < (revlog.data?.length ?? 0); size++) {
        const data = bytesAccess(revlog.data?.subarray(0, size) ?? Buffer.alloc(0), 'cut');
        expect(attempt(() => walkRevlog(index, { data }))).toBe('HG_TRUNCATED');
      }
    },
  );
});

describe('texts.json', () => {
  const texts = fixtureJson('revlog/texts.json');

  it.each(['manifest', 'tree-root', 'tree-d', 'changelog'])('has the first texts of %s as hg shows them', (name) => {
    const revlog = goldenRevlogs().find((candidate) => candidate.name === name);
    const expected: unknown = isRecord(texts) ? texts[name] : undefined;
    if (revlog === undefined || !Array.isArray(expected)) throw new Error('no such text');
    const reader = new RevlogReader(RevlogIndex.parse(revlog.index, name), access(revlog));
    expect(expected.map((_, rev) => Buffer.from(reader.text(rev)).toString())).toEqual(expected);
  });
});

describe('requirements that a header implies', () => {
  it.each([
    ['changelog', ['revlogv1']],
    ['lines-default', ['revlogv1', 'generaldelta']],
    ['lines-nogd', ['revlogv1']],
    ['lines-deltainfo', ['revlogv1', 'generaldelta', 'delta-info-revlog']],
  ])('of %s', (name, expected) => {
    const revlog = goldenRevlogs().find((candidate) => candidate.name === name);
    if (revlog) expect(requirementsOfHeader(RevlogIndex.parse(revlog.index, name).header)).toEqual(expected);
  });
});

function attempt<T>(action: () => T): T | string {
  try {
    return action();
  } catch (err) {
    if (err instanceof HgError) return err.code;
    throw err;
  }
}
