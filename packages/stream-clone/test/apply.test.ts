import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { constants, deflateSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { writeBundleHeader } from '@quicksilver/bundle';
import { directoryEncode, encodeStorePath } from '@quicksilver/store';
import { bzip2, fixture, fixtureJson, fixturePath, tmpDir, treeEntries, treeHash } from '@quicksilver/testing';
import { apply, refusal } from './support/apply.ts';
import { indexBytes, save, streamBundle } from './support/bundles.ts';
import {
  GOOD_STREAMS,
  type SidecarFile,
  type SidecarName,
  type StreamSidecar,
  storeName,
  streamedFiles,
} from './support/streamed.ts';

interface Sidecar extends StreamSidecar {
  readonly 'hg7.2.4': { readonly requirements_after: readonly string[] };
}

const ADDED = ['00changelog.i', 'requires', 'store/fncache', 'store/requires'];
/** Decided here, whatever a stream says. */
const OWN_REQUIREMENTS = ['dotencode', 'fncache', 'share-safe', 'store'];
const PHASES = 'a stream of version 1 says nothing of phases: all its changesets are public';

describe.each(GOOD_STREAMS)('$name', ({ path, sidecar }) => {
  const { stream1, 'hg7.2.4': stock } = sidecar as Sidecar;
  const streamed = streamedFiles(sidecar as Sidecar).filter((file) => !/\.nd?$/.test(storeName(file)));

  it('becomes exactly its files at their encoded paths, and the few that make a repository of them', async () => {
    using applied = await apply(path);
    const written = new Map(
      (await treeEntries(join(applied.root, '.hg'))).filter((e) => e.type === 'file').map((e) => [e.name, e.content]),
    );
    const kept = streamed.filter(({ src }) => src === 's');
    const expected = kept.map((file) => [hgPath(file), file.sha256] as const);
    expect(Object.fromEntries(expected)).toEqual(
      Object.fromEntries([...written].filter(([name]) => !ADDED.includes(name))),
    );
    expect(ADDED.filter((name) => !written.has(name))).toEqual(streamed.length === 0 ? ['store/fncache'] : []);
    expect(readdirSync(applied.root)).toEqual(['.hg']);
  });

  it('keeps no cache of the source: hg would believe it', async () => {
    using applied = await apply(path);
    const caches = streamed.filter(({ src }) => src === 'c').map((file) => `cache/${storeName(file)}`);
    expect(applied.receipt.droppedFiles).toEqual(expect.arrayContaining(caches));
    expect(existsSync(join(applied.root, '.hg/cache'))).toBe(false);
  });

  it('requires what stock hg requires after it', async () => {
    using applied = await apply(path);
    const lines = (name: string): string[] =>
      readFileSync(join(applied.root, '.hg', name), 'utf8')
        .split('\n')
        .slice(0, -1);
    expect(lines('requires')).toEqual(['share-safe']);
    // Stock hg leaves those of its own defaults when it applies a stream of version 1, whatever that needs.
    const wanted = stream1
      ? [...stream1.requirements.split(','), ...OWN_REQUIREMENTS].sort()
      : stock.requirements_after;
    expect([...lines('store/requires'), 'share-safe'].sort()).toEqual(wanted);
    expect(applied.receipt.requirements).toEqual(wanted);
    expect(applied.receipt.warnings).toEqual(stream1 ? [PHASES] : []);
  });

  it('lists its revlogs in fncache', async () => {
    using applied = await apply(path);
    if (streamed.length === 0) return;
    const lines = readFileSync(join(applied.root, '.hg/store/fncache'), 'latin1').split('\n');
    expect(lines.pop()).toBe('');
    const names = streamed.map(storeName).filter((name) => /^(data|meta)\/.*\.[id]$/.test(name));
    expect(lines).toEqual(names.map(directoryEncode));
  });
});

describe('threads', () => {
  it.each([
    'basic.stream-v2',
    'big.packed1',
    'big.stream-v2',
    'big.stream-v3',
    'fmt-tree.stream-v2',
    'oddpaths.packed1',
    'oddpaths.stream-v2',
    'oddpaths.stream-v3',
  ])('give %s the same tree and receipt, with little memory too', async (name) => {
    const path = fixturePath(`stream/${name}.hg`);
    using plain = await apply(path, { threads: 'never' });
    const closers = { backgroundClose: 'on', backgroundCloseMinFileCount: 0, backgroundCloseThreadCount: 2 } as const;
    for (const settings of [{ writers: 1 }, { writers: 4 }, { writers: 2, ...closers }, {}]) {
      using threads = await apply(path, { threads: 'always', memoryTarget: 65_536, ...settings });
      expect(await treeHash(threads.root)).toBe(await treeHash(plain.root));
      const { settings: _a, seconds: _b, ...facts } = threads.receipt;
      expect(plain.receipt).toMatchObject(facts);
    }
  });
});

describe('store layouts of stock hg', () => {
  it.each(['basic', 'big', 'fmt-tree', 'oddpaths'])('%s is laid out alike', async (name) => {
    const layout = fixtureJson(`store/layout-${name}.json`) as {
      hg_dir: { path: string; size: number }[];
      fncache: SidecarName[];
    };
    using applied = await apply(fixturePath(`stream/${name}.stream-v2.hg`));
    const revlogs = layout.hg_dir.filter(({ path }) => /^store\/(data|meta|dh|00)/.test(path));
    for (const { path, size } of revlogs)
      expect([path, statSync(join(applied.root, '.hg', path)).size]).toEqual([path, size]);
    const lines = readFileSync(join(applied.root, '.hg/store/fncache'), 'latin1').split('\n').slice(0, -1);
    expect(lines.sort()).toEqual(
      layout.fncache
        .map((name) => storeName({ name }))
        .filter((line) => line !== '')
        .sort(),
    );
  });
});

describe('K006: streams with next to nothing in them', () => {
  it('an empty repository is a usable one', async () => {
    using dir = tmpDir();
    using applied = await apply(save(dir, streamBundle([])));
    expect(applied.receipt).toMatchObject({ files: 0, bytes: 0, warnings: [] });
    expect(readdirSync(join(applied.root, '.hg')).sort()).toEqual(['00changelog.i', 'requires', 'store']);
  });

  it('empty requirements are completed from the revlogs, and said', async () => {
    using dir = tmpDir();
    const entries = [
      { name: 'data/a.i', bytes: indexBytes(80) },
      { name: '00manifest.i', bytes: Buffer.alloc(0) },
    ];
    using applied = await apply(save(dir, streamBundle(entries, { requirements: [] })));
    expect(applied.receipt.requirements).toEqual(
      ['dotencode', 'fncache', 'generaldelta', 'revlogv1', 'share-safe', 'store'].sort(),
    );
    expect(applied.receipt.warnings).toEqual([expect.stringContaining('generaldelta, revlogv1')]);
    expect(applied.receipt.streamedRequirements).toEqual([]);
  });

  it('requirements come from what the bytes have: zstd chunks, tree manifests, notes about deltas', async () => {
    using dir = tmpDir();
    const zstd = indexBytes(200);
    zstd[64] = 0x28;
    const entries = [
      { name: 'data/a.i', bytes: zstd },
      { name: 'meta/d/00manifest.i', bytes: indexBytes(70) },
    ];
    using applied = await apply(save(dir, streamBundle(entries, { requirements: ['revlogv1'] })));
    expect(applied.receipt.requirements).toEqual(expect.arrayContaining(['revlog-compression-zstd', 'treemanifest']));
  });
});

describe('K048: names that look like control files', () => {
  it('all arrive, below data/', async () => {
    using dir = tmpDir();
    const long = `data/${'long-directory-name/'.repeat(12)}file.i`;
    const names = [
      'data/00changelog.i.i',
      'data/undo.x.i',
      'data/foo.n.i',
      'data/data/undo.d.i',
      'data/\xc3\xa9.i',
      long,
    ];
    const entries = names.map((name, i) => ({ name, bytes: indexBytes(100 + i) }));
    using applied = await apply(save(dir, streamBundle(entries)));
    const files = (await treeEntries(join(applied.root, '.hg/store'))).filter(({ type }) => type === 'file');
    expect(files).toHaveLength(names.length + 2);
    for (const name of names)
      expect(statSync(join(applied.root, '.hg/store', encodeStorePath(name, 'dotencode'))).size).toBeGreaterThan(99);
    expect(readFileSync(join(applied.root, '.hg/store/fncache'), 'latin1')).toBe(
      names.map((name) => `${name}\n`).join(''),
    );
  });
});

describe('a compressed container', () => {
  const plain = fixture('stream/basic.stream-v2.hg').subarray(8);
  const bundle = (name: string, body: Uint8Array): Buffer =>
    Buffer.concat([writeBundleHeader([['Compression', name]]), body]);
  const packed = {
    GZ: deflateSync(plain),
    ZS: zstdCompressSync(plain, { params: { [constants.ZSTD_c_checksumFlag]: 1 } }),
    BZ: bzip2(plain),
  };

  it.each(Object.entries(packed))('%s gives the same tree, by blocks of any size', async (name, body) => {
    using dir = tmpDir();
    using uncompressed = await apply(fixturePath('stream/basic.stream-v2.hg'));
    for (const settings of [{}, { threads: 'always', writers: 2, memoryTarget: 1 }] as const) {
      using applied = await apply(save(dir, bundle(name, body)), settings);
      expect(await treeHash(applied.root)).toBe(await treeHash(uncompressed.root));
      expect(applied.receipt.source.compression).toBe({ GZ: 'zlib', ZS: 'zstd', BZ: 'bzip2' }[name]);
    }
  });

  it.each(Object.entries(packed))('%s must come to its own end, checksum included', async (name, body) => {
    using dir = tmpDir();
    for (const cut of [1, 4, body.length >> 1]) {
      expect(await refusal(save(dir, bundle(name, body.subarray(0, -cut))))).toMatchObject({
        code: 'HG_TRUNCATED',
        unreadable: true,
      });
    }
    const damaged = Buffer.from(body);
    damaged[damaged.length - 1] = (damaged.at(-1) ?? 0) ^ 1;
    expect(await refusal(save(dir, bundle(name, damaged)))).toMatchObject({ code: 'HG_CORRUPT', unreadable: true });
  });
});

describe('the target', () => {
  it('must exist and be empty', async () => {
    using dir = tmpDir();
    const path = fixturePath('stream/basic.stream-v2.hg');
    expect(await refusal(path, { root: dir.join('none') })).toMatchObject({ code: 'HG_TARGET_GONE' });
    using first = await apply(path);
    expect(await refusal(path, { root: first.root })).toMatchObject({ code: 'HG_EXISTS' });
  });

  it('gets exact modes when they are asked for', async () => {
    using applied = await apply(fixturePath('stream/basic.stream-v2.hg'), { fileMode: 0o640, dirMode: 0o2750 });
    const modes = new Set((await treeEntries(applied.root)).map(({ type, mode }) => `${type} ${mode.toString(8)}`));
    expect([...modes].sort()).toEqual(['dir 2750', 'file 640']);
  });
});

function hgPath(file: SidecarFile): string {
  return `store/${encodeStorePath(storeName(file), 'dotencode')}`;
}
