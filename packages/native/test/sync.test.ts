import { closeSync, openSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { tmpDir } from '@quicksilver/testing';
import { withoutLibc } from '../src/libc.ts';
import { syncFileSystem } from '../src/sync.ts';

describe('syncFileSystem', () => {
  it('writes the file system of a directory back, with C and without', async () => {
    using dir = tmpDir();
    const fd = openSync(dir.path, 'r');
    await syncFileSystem(fd);
    const restore = withoutLibc();
    await syncFileSystem(fd);
    restore();
    closeSync(fd);
  });

  it('fails on a descriptor that is not open', async () => {
    await expect(syncFileSystem(-1)).rejects.toMatchObject({ syscall: 'syncfs' });
  });
});
