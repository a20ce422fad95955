import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { seededRandom, tmpDir, treeEntries } from '@quicksilver/testing';
import { apply } from './support/apply.ts';
import { indexBytes, type SampleEntry, save, streamBundle } from './support/bundles.ts';

const FILES = 90;
const CLOSERS = { backgroundCloseMinFileCount: 0, backgroundCloseThreadCount: 2, backgroundCloseMaxQueue: 16 } as const;

function entries(): SampleEntry[] {
  const random = seededRandom(5);
  return Array.from({ length: FILES }, (_, i) => ({
    name: `data/d${i % 5}/File_${i}.i`,
    bytes: indexBytes(i === 40 ? 150_000 : random.int(0, 2_500), i),
  }));
}

/** The tree, but for the order of lines in a list that has none. */
async function tree(root: string): Promise<string> {
  const files = (await treeEntries(root)).filter(({ name }) => name !== '.hg/store/fncache');
  const list = readFileSync(join(root, '.hg/store/fncache'), 'latin1').split('\n').sort();
  return JSON.stringify([files.map(({ name, type, mode, content }) => [name, type, mode, content]), list]);
}

describe('writers, closers, memory and the order of files', () => {
  it.each([1, 2, 4, 8])('never change what %i writers make', async (writers) => {
    using dir = tmpDir();
    using plain = await apply(save(dir, streamBundle(entries())), { threads: 'never' });
    const expected = await tree(plain.root);
    const random = seededRandom(writers);
    for (const backgroundClose of ['off', 'on'] as const) {
      for (const memoryTarget of [65_536, 2 ** 20, Number.MAX_SAFE_INTEGER]) {
        const shuffled = entries()
          .map((entry) => ({ entry, key: random.next() }))
          .sort((a, b) => a.key - b.key)
          .map(({ entry }) => entry);
        const bundle = save(dir, streamBundle(shuffled, { chunkSize: random.int(500, 32_768) }), 'shuffled.hg');
        const settings = { threads: 'always', writers, memoryTarget, backgroundClose, ...CLOSERS } as const;
        using made = await apply(bundle, settings);
        expect(await tree(made.root)).toBe(expected);
        expect(made.receipt).toMatchObject({ files: FILES, bytes: plain.receipt.bytes });
        expect(made.receipt.settings).toMatchObject({
          writers,
          backgroundClose: { mode: backgroundClose, closers: backgroundClose === 'on' ? 2 : 0 },
        });
      }
    }
  });
});
