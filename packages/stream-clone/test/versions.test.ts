import { zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { encodeStream1Bundle, encodeStream3Bundle, type StreamFile, writeBundleHeader } from '@quicksilver/bundle';
import { fixture, fixturePath, seededRandom, tmpDir, treeHash } from '@quicksilver/testing';
import type { Progress } from '../src/types.ts';
import { apply, refusal } from './support/apply.ts';
import { indexBytes, part, save, streamBundle } from './support/bundles.ts';

const REQUIREMENTS = ['generaldelta', 'revlogv1', 'sparserevlog'];

function file(name: string, size = 70, vfsKey: 's' | 'c' = 's'): StreamFile {
  const bytes = indexBytes(size);
  return { vfsKey, name, size: bytes.length, data: bytes };
}

function stream1(files: readonly StreamFile[], told: { fileCount?: number; byteCount?: number } = {}): Buffer {
  const truth = { fileCount: files.length, byteCount: files.reduce((sum, { size }) => sum + size, 0) };
  const bytes = Buffer.concat([...encodeStream1Bundle(files, { ...truth, requirements: REQUIREMENTS })]);
  bytes.writeBigUInt64BE(BigInt(told.fileCount ?? truth.fileCount), 6);
  bytes.writeBigUInt64BE(BigInt(told.byteCount ?? truth.byteCount), 14);
  return bytes;
}

function stream3(entries: readonly (readonly StreamFile[])[], parts: readonly Uint8Array[] = []): Buffer {
  const options = { entryCount: entries.length, requirements: REQUIREMENTS };
  const pieces = [...encodeStream3Bundle(entries, options)];
  return Buffer.concat([...pieces.slice(0, -1), ...parts, Buffer.alloc(4)]);
}

describe('a stream of any version', () => {
  it.each(['basic', 'big', 'oddpaths'])('makes the same repository of %s', async (name) => {
    using v1 = await apply(fixturePath(`stream/${name}.packed1.hg`));
    using v2 = await apply(fixturePath(`stream/${name}.stream-v2.hg`));
    using v3 = await apply(fixturePath(`stream/${name}.stream-v3.hg`));
    const tree = await treeHash(v2.root);
    expect([await treeHash(v1.root), await treeHash(v3.root)]).toEqual([tree, tree]);
    expect([v1, v2, v3].map(({ receipt }) => [receipt.method, receipt.source.header])).toEqual([
      ['stream-v1', 'HGS1'],
      ['stream-v2', 'HG20'],
      ['stream-v3', 'HG20'],
    ]);
    expect(v1.receipt.streamedRequirements).toEqual(v2.receipt.streamedRequirements);
  });

  it.each(['packed1', 'stream-v2', 'stream-v3'])(
    '%s: tells at the end that all is done, and never more',
    async (kind) => {
      const told: Progress[] = [];
      using applied = await apply(fixturePath(`stream/basic.${kind}.hg`), { onProgress: (p) => told.push(p) });
      for (const { files, bytes } of told) {
        expect(files.done).toBeLessThanOrEqual(files.total);
        expect(bytes.done).toBeLessThanOrEqual(bytes.total);
      }
      const { files, bytes } = applied.receipt;
      expect(told.at(-1)).toMatchObject({ stage: 'write', files: { done: files }, bytes: { done: bytes } });
      if (kind === 'stream-v3') expect(told.at(-1)).toMatchObject({ files: { total: files }, bytes: { total: bytes } });
    },
  );

  it.each(['basic.packed1', 'basic.stream-v3', 'fmt-nodemap.stream-v3'])('%s is refused at every cut', async (name) => {
    using dir = tmpDir();
    const bytes = fixture(`stream/${name}.hg`);
    const random = seededRandom(30);
    const fields = Array.from({ length: 24 }, (_, i) => i);
    const within = Array.from({ length: 30 }, () => random.int(0, bytes.length));
    const last = [1, 2, 4, 5, 8, 9].map((back) => bytes.length - back);
    const cuts = new Set([...fields, 83, 84, 104, 112, 116, 117, 118, 119, 120, 121, ...within, ...last]);
    for (const cut of cuts) {
      const refused = await refusal(save(dir, bytes.subarray(0, cut)), { threads: 'never' });
      expect([cut, refused.code, refused.unreadable]).toEqual([cut, 'HG_TRUNCATED', true]);
    }
    for (const cut of [130, bytes.length >> 1, bytes.length - 1]) {
      const threads = { threads: 'always', writers: 4, memoryTarget: 65_536 } as const;
      expect(await refusal(save(dir, bytes.subarray(0, cut)), threads)).toMatchObject({
        code: 'HG_TRUNCATED',
        unreadable: true,
      });
    }
  });
});

describe('a stream of version 1', () => {
  it('K006: without files is an empty repository, and a usable one', async () => {
    using dir = tmpDir();
    for (const path of [fixturePath('stream/empty.packed1.hg'), save(dir, stream1([]))]) {
      using applied = await apply(path);
      expect(applied.receipt).toMatchObject({ method: 'stream-v1', files: 0, bytes: 0 });
    }
  });

  it('ends with its last file: what follows is said, and not read', async () => {
    using dir = tmpDir();
    using applied = await apply(save(dir, Buffer.concat([stream1([file('data/a.i')]), Buffer.alloc(3_000_000)])));
    expect(applied.receipt.warnings).toContain('3000000 bytes after the end of the bundle were ignored');
    expect(applied.receipt.files).toBe(1);
  });

  it('may not announce what cannot be true, whatever room there is', async () => {
    using dir = tmpDir();
    const announced = stream1([file('data/a.i')], { fileCount: 2 ** 50 });
    expect(await refusal(save(dir, announced))).toMatchObject({ code: 'HG_TRUNCATED', unreadable: true });
  });

  it('may not spell one file in two ways', async () => {
    using dir = tmpDir();
    const bytes = stream1([file('data/x.i/y.i'), file('data/x.j/y.i')]);
    bytes.write('data/x.i/y.i\x0070\n', bytes.indexOf('data/x.j/y.i'), 'latin1');
    expect(await refusal(save(dir, bytes))).toMatchObject({ code: 'HG_CORRUPT', unreadable: true });
  });
});

describe('a stream of version 3', () => {
  it('may have empty entries, or none', async () => {
    using dir = tmpDir();
    using some = await apply(save(dir, stream3([[], [file('data/a.d', 9), file('data/a.i')], [], []])));
    expect(some.receipt).toMatchObject({ method: 'stream-v3', files: 2, warnings: [] });
    using none = await apply(save(dir, stream3([])));
    expect(none.receipt.files).toBe(0);
  });

  it('is refused by names, twice the same file, and unknown requirements like any other', async () => {
    using dir = tmpDir();
    const code = async (entries: readonly (readonly StreamFile[])[]): Promise<string> =>
      (await refusal(save(dir, stream3(entries)))).code;
    expect(await code([[file('../hgrc')]])).toBe('HG_UNSAFE_NAME');
    expect(await code([[file('hgrc', 70, 'c')]])).toBe('HG_UNSAFE_NAME');
    expect(await code([[file('data/a.i')], [file('data/a.i')]])).toBe('HG_CORRUPT');
    const unknown = { entryCount: 0, requirements: ['exp-x'] };
    const bundle = Buffer.concat([...encodeStream3Bundle([], unknown)]);
    expect((await refusal(save(dir, bundle))).code).toBe('HG_UNSUPPORTED');
  });

  it('stands alone: no second stream beside it, of whatever version, even before its first byte was read', async () => {
    using dir = tmpDir();
    const second = streamBundle([{ name: 'data/b.i', bytes: indexBytes(70) }]).subarray(8, -4);
    expect(await refusal(save(dir, stream3([[file('data/a.i')]], [second])))).toMatchObject({ code: 'HG_CORRUPT' });
    const third = stream3([[file('data/b.i')]]).subarray(8, -4);
    expect(await refusal(save(dir, stream3([[file('data/a.i')]], [third])))).toMatchObject({ code: 'HG_CORRUPT' });
    const empty = part('STREAM3-EXP', new Uint8Array(0));
    expect((await refusal(save(dir, stream3([[file('data/a.i')]], [empty])))).code).toBe('HG_CORRUPT');
  });

  it('without even its number of entries is cut short', async () => {
    using dir = tmpDir();
    const bytes = stream3([]);
    const at = bytes.length - 4 - 4 - 1 - 4; // chunk of one byte, end of the part, end of the bundle
    const none = Buffer.concat([bytes.subarray(0, at), Buffer.alloc(8)]);
    expect(await refusal(save(dir, none))).toMatchObject({ code: 'HG_TRUNCATED', unreadable: true });
  });

  it('may be compressed, and then be larger than its source', async () => {
    using dir = tmpDir();
    const plain = stream3([[file('data/large.i', 3_000_000)], [file('data/b.i')]]).subarray(8);
    const bundle = Buffer.concat([writeBundleHeader([['Compression', 'ZS']]), zstdCompressSync(plain)]);
    using applied = await apply(save(dir, bundle));
    expect(applied.receipt).toMatchObject({ files: 2, bytes: 3_000_070, source: { compression: 'zstd' } });
  });
});
