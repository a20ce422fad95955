import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TmpDir, tmpDir } from '@quicksilver/testing';
import { withoutLibc } from '../src/libc.ts';
import { adviseRegion, adviseRegionAsync, canMapFiles, mapFile, unmapRegion } from '../src/memory-map.ts';

let dir: TmpDir;
let fd = -1;
beforeAll(() => {
  dir = tmpDir();
  writeFileSync(dir.join('file'), 'x'.repeat(100_000));
  fd = openSync(dir.join('file'), 'r');
});
afterAll(() => {
  closeSync(fd);
  dir[Symbol.dispose]();
});
const mapped = () => readFileSync('/proc/self/maps', 'utf8').includes(dir.path);

describe('mapping files', () => {
  it.each([false, true])('maps, takes advice and unmaps (populated %s)', async (populate) => {
    const { region, view } = mapFile(fd, 100_000, populate);
    expect([view.byteLength, new Uint8Array(view)[99_999], mapped()]).toEqual([100_000, 120, true]);
    const whole = { region, offset: 0, length: region.length };
    expect(adviseRegion(whole, 'sequential')).toBe(true);
    expect(await adviseRegionAsync(whole, 'willNeed')).toBe(true);
    view.transfer();
    unmapRegion(region);
    expect(mapped()).toBe(false);
  });

  it('fails as the system does', async () => {
    expect(() => mapFile(fd, 0, false)).toThrow(expect.objectContaining({ code: 'EINVAL', syscall: 'mmap' }));
    expect(() => mapFile(-1, 10, false)).toThrow(expect.objectContaining({ code: 'EBADF' }));
    // Not at a page's start: no advice can be given there.
    const part = { region: { address: 1n, length: 10 }, offset: 0, length: 10 };
    expect(adviseRegion(part, 'random')).toBe(false);
    expect(await adviseRegionAsync(part, 'random')).toBe(false);
    expect(() => unmapRegion(part.region)).toThrow(expect.objectContaining({ code: 'EINVAL' }));
  });

  it('says so where C cannot be called', () => {
    expect(canMapFiles()).toBe(true);
    const restore = withoutLibc();
    try {
      expect(canMapFiles()).toBe(false);
      expect(() => mapFile(fd, 10, false)).toThrow(expect.objectContaining({ code: 'HG_UNSUPPORTED' }));
    } finally {
      restore();
    }
  });
});
