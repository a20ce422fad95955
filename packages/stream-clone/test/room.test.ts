import { readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { canMountDisk, smallDisk, tmpDir } from '@quicksilver/testing';
import { apply, refusal } from './support/apply.ts';
import { indexBytes, save, streamBundle } from './support/bundles.ts';

const MB = 1024 * 1024;

describe('K043: room', () => {
  it('is asked for before anything is written', async () => {
    using dir = tmpDir();
    const path = save(dir, streamBundle([{ name: 'data/a.i', bytes: indexBytes(70) }], { byteCount: 2 ** 52 }));
    using target = tmpDir();
    const refused = await refusal(path, { root: target.path });
    expect(refused).toMatchObject({
      code: 'HG_NO_SPACE',
      where: { wantedBytes: 2 ** 52, freeBytes: expect.any(Number) },
    });
    expect(readdirSync(target.path)).toEqual([]);
  });

  (canMountDisk() ? it : it.skip)('is asked for files as well (needs root for a tmpfs)', async () => {
    using dir = tmpDir();
    using disk = smallDisk({ bytes: MB, inodes: 20 });
    const many = Array.from({ length: 30 }, (_, i) => ({ name: `data/${i}.i`, bytes: indexBytes(70) }));
    expect(await refusal(save(dir, streamBundle(many)), { root: disk.path })).toMatchObject({
      code: 'HG_NO_SPACE',
      where: { wantedFiles: 30, freeFiles: expect.any(Number) },
    });
  });
});

describe('K116: memory', () => {
  it('in flight stays within its target while files are larger than it', async () => {
    using dir = tmpDir();
    const path = save(dir, streamBundle([{ name: 'data/big.i', bytes: indexBytes(8 * MB, 3) }], { chunkSize: 32_768 }));
    const before = process.memoryUsage().arrayBuffers;
    using applied = await apply(path, { memoryTarget: 65_536, threads: 'always', writers: 1 });
    expect(applied.receipt).toMatchObject({ bytes: 8 * MB, settings: { memoryTarget: 65_536 } });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4 * MB);
  });
});
