import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { fixture, fixturePath, tmpDir } from '@quicksilver/testing';
import { refusal } from './support/apply.ts';
import { indexBytes, save, streamBundle } from './support/bundles.ts';

/** Larger than all memory that is allowed, so that most of it is read after the change. */
const BIG = streamBundle([{ name: 'data/big.i', bytes: indexBytes(2_000_000, 7) }]);
const settings = { memoryTarget: 65_536, threads: 'always', writers: 1 } as const;

describe('a source that changes while it is read', () => {
  it.each<[string, (path: string) => void]>([
    ['is cut', (path) => truncateSync(path, 200_000)],
    ['is emptied', (path) => truncateSync(path, 0)],
    ['grows', (path) => appendFileSync(path, 'more')],
    ['is rewritten at the same size', (path) => writeFileSync(path, Buffer.alloc(BIG.length))],
    ['is touched', (path) => utimesSync(path, 1, 1)],
  ])('that %s is an error that can be tried again', async (_, change) => {
    using dir = tmpDir();
    const path = save(dir, BIG);
    let changed = false;
    const onProgress = (): void => {
      if (!changed) change(path);
      changed = true;
    };
    expect(await refusal(path, { ...settings, onProgress })).toMatchObject({
      code: 'HG_SOURCE_CHANGED',
      unreadable: true,
    });
    expect(changed).toBe(true);
  });
});

describe('a source that is no file', () => {
  it('is refused at once: missing, a directory, a pipe', async () => {
    using dir = tmpDir();
    mkdirSync(dir.join('folder'));
    spawnSync('mkfifo', [dir.join('pipe')]);
    expect(await refusal(dir.join('none'))).toMatchObject({ code: 'HG_NOT_FOUND', where: { file: dir.join('none') } });
    expect(await refusal(dir.join('folder'))).toMatchObject({ code: 'HG_NOT_BUNDLE' });
    expect(await refusal(dir.join('pipe'))).toMatchObject({ code: 'HG_NOT_BUNDLE' });
  });

  it('K056: is found whatever its name looks like', async () => {
    using dir = tmpDir();
    for (const name of ['a b.hg', 'a#b.hg', 'a%23b.hg', 'a+b.hg', '\u00e9.hg', '-x.hg']) {
      const path = save(dir, fixture('stream/fmt-default.stream-v2.hg').subarray(0, 20), name);
      expect(await refusal(path)).toMatchObject({ code: 'HG_TRUNCATED' });
    }
  });
});

describe('bundles of other kinds', () => {
  it.each([
    ['bundle/basic.none-v1.hg', 'HG_NOT_YET'],
    ['bundle/basic.bzip2-v1.hg', 'HG_NOT_YET'],
    ['bundle/basic.zstd-v2.hg', 'HG_NOT_YET'],
    ['bundle/basic.bzip2-v2.hg', 'HG_NOT_YET'],
  ])('%s is named and refused for now', async (name, code) => {
    expect(await refusal(fixturePath(name))).toMatchObject({ code, unreadable: true });
  });
});
