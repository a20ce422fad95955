import { mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { canMountDisk, smallDisk, tmpDir, treeEntries, treeHash } from '@quicksilver/testing';
import { FileWriter } from '../src/file-writer.ts';
import { Halt } from '../src/halt.ts';
import { SharedBlocks } from '../src/shared-blocks.ts';
import { type FeedOptions, feed, type SampleFile } from './support/feed.ts';
import { sampleFiles } from './support/samples.ts';

const TINY = { blockSize: 32 * 1024, count: 2 };
const WRITERS = [0, 1, 2, 4];

describe('file writer', () => {
  it('gives the same tree whatever the writers, the memory and the order of files', async () => {
    const hashes = new Set<string>();
    const geometries = [TINY, { blockSize: 5_000, count: 3 }, { blockSize: 1 << 20, count: 4 }];
    let seed = 0;
    for (const writers of WRITERS) {
      for (const geometry of geometries) {
        using dir = tmpDir();
        const gapEvery = seed % 2 === 0 ? 3_000 : undefined;
        const files = sampleFiles(200, seed++);
        const tally = await feed(files, { root: dir.path, writers, ...geometry, gapEvery });
        expect(tally).toMatchObject({ files: 200, bytes: files.reduce((sum, file) => sum + file.bytes.length, 0) });
        expect(tally.peak).toBeLessThanOrEqual(geometry.count);
        hashes.add(await treeHash(dir.path));
      }
    }
    expect(hashes.size).toBe(1);
  });

  it('writes exactly the bytes it was given', async () => {
    using dir = tmpDir();
    const files = sampleFiles(100, 3);
    await feed(files, { root: dir.path, writers: 2, ...TINY, gapEvery: 1_000 });
    for (const { path, bytes } of files) expect(readFileSync(dir.join(path)).equals(bytes)).toBe(true);
  });

  it('sets modes exactly when asked and leaves them to the umask when not', async () => {
    using dir = tmpDir();
    const file: SampleFile = { path: 'a/b/c', bytes: Buffer.from('x') };
    const mask = process.umask(0o077);
    try {
      mkdirSync(dir.join('plain'));
      mkdirSync(dir.join('set'));
      await feed([file], { root: dir.join('plain'), writers: 1, ...TINY });
      await feed([file], { root: dir.join('set'), writers: 1, ...TINY, fileMode: 0o664, dirMode: 0o2775 });
    } finally {
      process.umask(mask);
    }
    const modes = async (root: string): Promise<string[]> =>
      (await treeEntries(dir.join(root))).map(({ mode }) => mode.toString(8));
    expect(await modes('plain')).toEqual(['700', '700', '600']);
    expect(await modes('set')).toEqual(['2775', '2775', '664']);
  });

  it('holds memory at the pool while the writers are slow (K116)', async () => {
    using dir = tmpDir();
    const bytes = new Uint8Array(8 << 20);
    const { peak } = await feed([{ path: 'big', bytes }], { root: dir.path, writers: 1, blockSize: 65_536, count: 3 });
    expect(peak).toBeLessThanOrEqual(3);
  });
});

describe.each(WRITERS)('faults with %i writers', (writers) => {
  const plain: Pick<FeedOptions, 'writers' | 'blockSize' | 'count'> = { writers, ...TINY };

  it('refuses a second file of one name and names it', async () => {
    using dir = tmpDir();
    const twice = [...sampleFiles(20, 1), { path: 'store/f1.i', bytes: Buffer.from('again') }];
    const first = [{ path: 'store/f1.i', bytes: Buffer.from('once') }];
    await expect(feed([...first, ...twice.slice(-1)], { root: dir.path, ...plain })).rejects.toMatchObject({
      code: 'HG_EXISTS',
      where: { file: 'store/f1.i' },
    });
    expect(readFileSync(dir.join('store/f1.i'), 'utf8')).toBe('once');
  });

  it('stops with one error when the root is renamed away, and does not make it anew', async () => {
    using dir = tmpDir();
    mkdirSync(dir.join('root'));
    let block = 0;
    const onBlock = (): void => {
      if (++block === 2) renameSync(dir.join('root'), dir.join('gone'));
    };
    const work = feed(sampleFiles(500, 2), { root: dir.join('root'), ...plain, onBlock });
    await expect(work).rejects.toMatchObject({ code: 'HG_TARGET_GONE', where: { file: expect.any(String) } });
    expect(() => statSync(dir.join('root'))).toThrow();
  });

  it('stops with one error when the root is removed', async () => {
    using dir = tmpDir();
    mkdirSync(dir.join('root'));
    let block = 0;
    const onBlock = (): void => {
      if (++block === 2) rmSync(dir.join('root'), { recursive: true, maxRetries: 5 });
    };
    const work = feed(sampleFiles(500, 2), { root: dir.join('root'), ...plain, onBlock });
    await expect(work).rejects.toMatchObject({ code: 'HG_TARGET_GONE' });
    expect(() => statSync(dir.join('root'))).toThrow();
  });

  it('ends at once when it is cancelled, before and in the middle', async () => {
    using dir = tmpDir();
    const early = feed(sampleFiles(10, 2), { root: dir.path, ...plain, signal: AbortSignal.abort() });
    await expect(early).rejects.toMatchObject({ code: 'HG_CANCELLED' });
    const controller = new AbortController();
    let block = 0;
    const onBlock = (): void => {
      if (++block === 3) controller.abort(new Error('enough'));
    };
    const work = feed(sampleFiles(500, 2), { root: dir.path, ...plain, signal: controller.signal, onBlock });
    await expect(work).rejects.toMatchObject({ code: 'HG_CANCELLED' });
  });

  (canMountDisk() ? it : it.skip)(
    'reports a full disk with the file and its offset (needs root for a tmpfs)',
    async () => {
      using disk = smallDisk({ bytes: 1 << 20 });
      await expect(feed(sampleFiles(500, 4), { root: disk.path, ...plain })).rejects.toMatchObject({
        code: 'HG_NO_SPACE',
        where: { file: expect.any(String) },
      });
    },
  );

  (canMountDisk() ? it : it.skip)('reports a read-only target (needs root for a tmpfs)', async () => {
    using disk = smallDisk({ bytes: 8 << 20 });
    disk.readOnly(true);
    for (const path of ['file', 'folder/file']) {
      const work = feed([{ path, bytes: Buffer.from('x') }], { root: disk.path, ...plain });
      await expect(work).rejects.toMatchObject({ code: 'HG_READ_ONLY', where: { file: path.split('/')[0] } });
    }
  });
});

describe('file writer as its caller may misuse it', () => {
  it.each<[string, (writer: FileWriter) => void]>([
    ['a file inside a file', (w) => w.file('b', 1)],
    ['more bytes than announced', (w) => w.segment(0, 11)],
    ['an end too early', (w) => w.fileEnd()],
    ['a path out of the root', (w) => w.directory('x/../y')],
    ['an absolute path', (w) => w.directory('/etc')],
    ['a block inside a block', (w) => w.beginBlock(1)],
  ])('refuses %s', async (_, misuse) => {
    using dir = tmpDir();
    using halt = new Halt();
    const blocks = SharedBlocks.create(TINY);
    await using writer = FileWriter.start({ root: dir.path, writers: 0, blocks, halt });
    blocks.tryAcquire();
    writer.beginBlock(0);
    writer.file('a', 10);
    expect(() => misuse(writer)).toThrow(expect.objectContaining({ code: 'HG_INTERNAL' }));
  });
});
