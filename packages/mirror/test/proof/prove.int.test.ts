import { appendFile, mkdir, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { applyStreamBundle, type WriteReceipt } from '@quicksilver/stream-clone';
import { fixturePath, fixtures, type TmpDir, tmpDir, treeHash, writeSyntheticBundle } from '@quicksilver/testing';
import { type Proof, proveQuick } from '../../src/proof/prove.ts';
import { codeOf } from '../support/volume.ts';

const { signal } = new AbortController();

interface Written extends Disposable {
  readonly dir: TmpDir;
  readonly root: string;
  readonly store: string;
  readonly write: WriteReceipt;
  prove(write?: Partial<WriteReceipt>): Promise<Proof>;
}

async function written(path: string): Promise<Written> {
  const dir = tmpDir('quicksilver-proof');
  const root = dir.join('repository');
  await mkdir(root);
  const write = await applyStreamBundle({ source: { kind: 'file', path }, root, signal });
  let parts = 0;
  const prove = (more: Partial<WriteReceipt> = {}) =>
    proveQuick(root, { ...write, ...more }, { signal, part: () => dir.join(`${parts++}.part`) });
  return { dir, root, store: join(root, '.hg', 'store'), write, prove, [Symbol.dispose]: () => dir[Symbol.dispose]() };
}

/** Split changelog, inline manifest. */
const basic = (): Promise<Written> => written(fixturePath('stream/basic.stream-v2.hg'));

/** Three changesets in a row. */
async function linear(): Promise<Written> {
  using dir = tmpDir();
  const path = dir.join('x.hg');
  writeSyntheticBundle(path, { files: 6, fileSize: 300, changesets: 3 });
  return await written(path);
}

interface Sidecar {
  readonly facts?: string;
}

const good = fixtures('stream', /\.(stream-v[23]|packed1)\.hg$/).filter(({ name }) => !name.startsWith('fmt-clv2'));

describe('proof quick', () => {
  it.each(good)('passes $name with the facts of its repository', async ({ path, sidecar }) => {
    using w = await written(path);
    const before = await treeHash(w.root);
    const proof = await w.prove();
    const { facts } = sidecar as Sidecar;
    if (facts !== undefined) {
      const repo = JSON.parse((await readFile(fixturePath(facts))).toString()) as {
        changesets: { node: string }[];
        heads: unknown[];
      };
      // The facts leave out what is hidden; a stream does not.
      expect(proof.changesets).toBeGreaterThanOrEqual(repo.changesets.length);
    }
    expect(proof.heads.nodes).toHaveLength(proof.heads.count);
    expect(proof.warnings).toEqual([]);
    // It looks and does not touch.
    expect(await treeHash(w.root)).toBe(before);
    expect(await w.prove()).toEqual(proof);
  });

  it('K006: passes a repository without changesets', async () => {
    using dir = tmpDir();
    const path = dir.join('empty.hg');
    writeSyntheticBundle(path, { files: 0, fileSize: 0, changesets: 0 });
    using w = await written(path);
    expect(await w.prove()).toMatchObject({ changesets: 0, manifests: 0, heads: { count: 0, nodes: [] } });
  });

  const damages: [string, string, (w: Written) => Promise<unknown>][] = [
    ['a file log that is cut by a byte', 'HG_UNPROVED', (w) => truncate(join(w.store, 'data/numbers.txt.i'), 100)],
    ['a file log that has gone', 'HG_UNPROVED', (w) => rm(join(w.store, 'data/numbers.txt.i'))],
    ['a file that nobody wrote', 'HG_UNPROVED', (w) => writeFile(join(w.store, 'data/extra.i'), '')],
    [
      'a file log under another name',
      'HG_UNPROVED',
      (w) => rename(join(w.store, 'data/numbers.txt.i'), join(w.store, 'data/other.i')),
    ],
    ['a link in the store', 'HG_UNPROVED', (w) => symlink('/etc/passwd', join(w.store, 'data/extra.i'))],
    ['a name that fncache lacks', 'HG_UNPROVED', (w) => cutLine(join(w.store, 'fncache'))],
    ['a name too many in fncache', 'HG_UNPROVED', (w) => appendFile(join(w.store, 'fncache'), 'data/ghost.i\n')],
    [
      'a requirement that is missing',
      'HG_UNPROVED',
      (w) => writeFile(join(w.store, 'requires'), 'dotencode\nfncache\nrevlogv1\nstore\n'),
    ],
    ['no list of requirements', 'HG_CORRUPT', (w) => rm(join(w.store, 'requires'))],
    ['a changed byte in the text of a changeset', 'HG_CORRUPT', (w) => flip(join(w.store, '00changelog.d'), -3)],
    ['a changed byte in the node of a changeset', 'HG_CORRUPT', (w) => flip(join(w.store, '00changelog.i'), 64 + 40)],
    ['an offset that is not where the chunk is', 'HG_CORRUPT', (w) => flip(join(w.store, '00changelog.i'), 64 + 5)],
    ['a parent that comes later', 'HG_CORRUPT', (w) => flip(join(w.store, '00changelog.i'), 64 + 27)],
    ['a flag that would skip the hash', 'HG_UNSUPPORTED', (w) => flip(join(w.store, '00changelog.i'), 64 + 6, 0x80)],
    ['a manifest whose node is another', 'HG_UNPROVED', (w) => flip(join(w.store, '00manifest.i'), 40)],
    ['a manifest that links past the changelog', 'HG_CORRUPT', (w) => flip(join(w.store, '00manifest.i'), 22, 0x40)],
  ];

  it.each(damages)('refuses %s', async (_what, code, damage) => {
    using w = await basic();
    await w.prove();
    await damage(w);
    expect(await codeOf(w.prove())).toBe(code);
  });

  it('of the process that wrote it takes the lengths as written, and says so; names are still looked at', async () => {
    using w = await basic();
    const prove = () => proveQuick(w.root, w.write, { signal, part: () => w.dir.join('part'), lengths: 'as-written' });
    const [own, others] = [await prove(), await w.prove()];
    expect({ ...own, checks: [] }).toEqual({ ...others, checks: [] });
    expect(own.checks[0]).not.toBe(others.checks[0]);
    expect(own.checks.slice(1)).toEqual(others.checks.slice(1));
    await symlink('/etc/passwd', join(w.store, 'data/extra.i'));
    expect(await codeOf(prove())).toBe('HG_UNPROVED');
    await rm(join(w.store, 'data/extra.i'));
    await rm(join(w.store, 'data/numbers.txt.i'));
    expect(await codeOf(prove())).toBe('HG_UNPROVED');
  });

  it('refuses a repository that has gone, or goes away meanwhile', async () => {
    using w = await basic();
    await rm(w.root, { recursive: true });
    expect(await codeOf(w.prove())).toMatch(/^HG_/);
  });

  it('stops when it is told to', async () => {
    using w = await basic();
    const ctx = { signal: AbortSignal.abort(), part: () => w.dir.join('part') };
    await expect(proveQuick(w.root, w.write, ctx)).rejects.toThrow();
  });
});

describe('parts beside the stream', () => {
  const tip = (w: Written) => w.prove().then((proof) => proof.heads.nodes[0] ?? '');

  it('bookmarks are written for changesets that exist; others are named and dropped', async () => {
    using w = await basic();
    const node = await tip(w);
    const bookmarks = [
      { name: '@', node },
      { name: 'a b', node },
      { name: 'gone', node: '1'.repeat(40) },
      { name: ' ', node },
    ];
    const proof = await w.prove({ bookmarks });
    expect(proof.bookmarks).toBe(2);
    expect(proof.warnings).toEqual([
      expect.stringContaining('gone'),
      expect.stringContaining('name cannot be written'),
    ]);
    const file = join(w.root, '.hg', 'bookmarks');
    expect(await readFile(file, 'latin1')).toBe(`${node} @\n${node} a b\n`);
    // Again, and after a kill that left half of it: the same.
    await truncate(file, 41 + 2);
    expect((await w.prove({ bookmarks })).bookmarks).toBe(2);
    expect(await readFile(file, 'latin1')).toBe(`${node} @\n${node} a b\n`);
  });

  it('bookmarks lie in the store where the format says so', async () => {
    using w = await written(fixturePath('stream/fmt-bookstore.stream-v2.hg'));
    const node = await tip(w);
    const bookmarks = [{ name: 'new', node }];
    const first = await w.prove({ bookmarks });
    expect(await readFile(join(w.store, 'bookmarks'), 'latin1')).toContain(`${node} new\n`);
    expect(await w.prove({ bookmarks })).toEqual({ ...first, files: expect.anything() });
  });

  it('phase heads of unknown changesets mean that the bundle is wrong', async () => {
    using w = await basic();
    const phaseHeads = [{ phase: 0, node: '1'.repeat(40) } as const];
    expect(await codeOf(w.prove({ phaseHeads }))).toBe('HG_CORRUPT');
  });

  it('K017: phase heads move what is below them towards public, and a second run changes nothing', async () => {
    using w = await linear();
    const node = await tip(w);
    const { RevlogFiles } = await import('@quicksilver/revlog');
    using changelog = RevlogFiles.open(w.store, '00changelog');
    const hex = (rev: number) => Buffer.from(changelog.index.nodeAt(rev)).toString('hex');
    const roots = join(w.store, 'phaseroots');
    await writeFile(roots, `1 ${hex(0)}\n2 ${hex(2)}\n`);
    const counted = { files: w.write.files + 1, bytes: w.write.bytes + 86 };
    await w.prove(counted);
    const phaseHeads = [
      { phase: 0, node: hex(1) },
      { phase: 1, node },
    ] as const;
    await w.prove({ ...counted, phaseHeads });
    expect(await readFile(roots, 'latin1')).toBe(`1 ${hex(2)}\n`);
    await w.prove({ ...counted, phaseHeads });
    expect(await readFile(roots, 'latin1')).toBe(`1 ${hex(2)}\n`);
  });

  it('phases and bookmarks that nobody can read are refused', async () => {
    for (const name of ['phaseroots', 'bookmarks']) {
      using w = await written(fixturePath('stream/fmt-bookstore.stream-v2.hg'));
      const path = join(w.store, name);
      const had = await readFile(path).catch(() => undefined);
      await writeFile(path, 'one two three\n');
      const more = { files: w.write.files + (had ? 0 : 1), bytes: w.write.bytes + 14 - (had?.length ?? 0) };
      expect(await codeOf(w.prove(more))).toBe('HG_CORRUPT');
    }
  });
});

async function cutLine(path: string): Promise<void> {
  const lines = (await readFile(path, 'latin1')).split('\n');
  await writeFile(path, lines.slice(1).join('\n'));
}

/** Changes one byte; a negative place counts from the end. */
async function flip(path: string, at: number, mask = 0x01): Promise<void> {
  const bytes = await readFile(path);
  const place = at < 0 ? bytes.length + at : at;
  bytes.writeUInt8(bytes.readUInt8(place) ^ mask, place);
  await writeFile(path, bytes);
}
