import { Buffer } from 'node:buffer';
import { describe, expect, it } from '@jest/globals';
import { hexNode } from '@quicksilver/hg-types';
import { type Fixture, fixture, fixtureJson, fixtures } from '@quicksilver/testing';
import { bytesAccess, parseChangeset, type RandomAccess, RevlogIndex, RevlogReader, walkRevlog } from '../src/index.ts';
import { isRecord } from './golden-revlogs.ts';
import { streamFiles } from './stream-files.ts';

interface Opened {
  readonly index: RevlogIndex;
  readonly data: RandomAccess | undefined;
  readonly reader: RevlogReader;
}

function open(files: ReadonlyMap<string, Buffer>, radix: string): Opened {
  const index = RevlogIndex.parse(files.get(`${radix}.i`) ?? Buffer.alloc(0), radix);
  const bytes = files.get(`${radix}.d`);
  const data = bytes && bytesAccess(bytes, `${radix}.d`);
  return { index, data, reader: new RevlogReader(index, data) };
}

interface Changes {
  readonly changesets: readonly Readonly<Record<string, unknown>>[];
  readonly heads: readonly unknown[];
}

function changes({ sidecar }: Fixture): Changes {
  const facts = isRecord(sidecar) && typeof sidecar.facts === 'string' ? fixtureJson(sidecar.facts) : undefined;
  if (!isRecord(facts) || !Array.isArray(facts.changesets) || !Array.isArray(facts.all_heads_including_closed)) {
    throw new Error('the fixture names no facts');
  }
  return { changesets: facts.changesets.filter(isRecord), heads: facts.all_heads_including_closed };
}

/** Those with a changelog that is read here. */
const streams = [...fixtures('stream', /stream-v2/), ...fixtures('hg6', /stream-v2/)].filter(
  ({ name }) => !name.startsWith('fmt-clv2'),
);

describe.each(streams.map((stream) => [stream.name, stream] as const))('the stream %s', (_, stream) => {
  const files = streamFiles(stream.bytes);
  const changelog = open(files, '00changelog');
  const nodeOrNull = (rev: number): string => hexNode(changelog.reader.parentNode(rev));

  it('has the changesets that hg lists, and every text gives its node', () => {
    const found = Array.from({ length: changelog.index.length }, (__, rev) => {
      expect(changelog.reader.checkHash(rev)).toBe('same');
      const {
        manifest,
        user,
        time,
        zone,
        extra,
        branch,
        files: names,
        description,
      } = parseChangeset(changelog.reader.text(rev));
      const { p1, p2, node } = changelog.index.entry(rev);
      return {
        rev,
        node: hexNode(node),
        p1node: nodeOrNull(p1),
        p2node: nodeOrNull(p2),
        manifest: hexNode(manifest),
        author: user,
        date: [time, zone],
        desc: description,
        branch,
        extras: { branch: 'default', ...Object.fromEntries(extra) },
        files: names.length,
      };
    });
    const facts = changes(stream);
    const known = [
      'rev',
      'node',
      'p1node',
      'p2node',
      'manifest',
      'author',
      'date',
      'desc',
      'branch',
      'extras',
      'files',
    ];
    const expected = facts.changesets.map((changeset) => {
      const kept = Object.fromEntries(Object.entries(changeset).filter(([key]) => known.includes(key)));
      return { ...kept, files: Array.isArray(kept.files) ? kept.files.length : -1 };
    });
    // Hidden changesets travel in a stream although hg no longer lists them.
    const isListed = ({ node }: { node: string }): boolean =>
      facts.changesets.some((changeset) => changeset.node === node);
    expect(stream.name.startsWith('obs.') ? found.filter(isListed) : found).toEqual(expected);
    const heads = changelog.index.heads().map((rev) => hexNode(changelog.index.nodeAt(rev)));
    if (stream.name.startsWith('obs.')) expect(heads).toEqual(expect.arrayContaining(facts.heads.map(String)));
    else expect(heads.sort()).toEqual(facts.heads.map(String).sort());
  });

  it('passes the walk in changelog, manifest and every other revlog', () => {
    const count = changelog.index.length;
    expect(walkRevlog(changelog.index, { data: changelog.data, links: 'own' }).revisions).toBe(count);
    for (const name of files.keys()) {
      if (!/^(data|meta)\/.*\.i$|^00manifest\.i$/.test(name)) continue;
      const { index, data } = open(files, name.slice(0, -2));
      expect(walkRevlog(index, { data, links: count }).revisions).toBe(index.length);
    }
  });
});

describe('a real history', () => {
  const files = streamFiles(fixture('histories/cinnabar.stream-v2.hg'));
  const changelog = open(files, '00changelog');

  it('has its 3655 changesets, and every text gives its node', () => {
    expect(changelog.index.length).toBe(3655);
    expect(hexNode(changelog.index.nodeAt(3654)).slice(0, 12)).toBe('207fcfdf3191');
    for (let rev = 0; rev < 3655; rev++) expect(changelog.reader.checkHash(rev)).toBe('same');
  });

  it('has manifests for all of them, each with its hash', () => {
    const manifest = open(files, '00manifest');
    expect(walkRevlog(manifest.index, { data: manifest.data, links: 3655 }).revisions).toBe(manifest.index.length);
    for (let rev = 0; rev < 3655; rev++) {
      const { manifest: node } = parseChangeset(changelog.reader.text(rev));
      if (node.some((byte) => byte !== 0)) expect(manifest.index.findNode(node)).toBeDefined();
    }
    for (let rev = 0; rev < manifest.index.length; rev++) expect(manifest.reader.checkHash(rev)).toBe('same');
  });

  it('passes the walk in every revlog', () => {
    const radixes = [...files.keys()].filter((name) => name.endsWith('.i')).map((name) => name.slice(0, -2));
    expect(radixes.length).toBeGreaterThan(100);
    for (const radix of radixes) {
      const { index, data } = open(files, radix);
      walkRevlog(index, { data, links: radix === '00changelog' ? 'own' : 3655 });
    }
  });
});
