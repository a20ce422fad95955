import { describe, expect, it } from '@jest/globals';
import { canMountDisk, smallDisk, tmpDir } from '@quicksilver/testing';
import { fileSystemFacts, lockFileSystem, parseMountInfo } from '../src/file-system.ts';

const MOUNTS = [
  '36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 shared:7 - ext3 /dev/root rw,errors=continue',
  '40 35 0:50 / /a\\040b rw,relatime - nfs4 host:/x rw,vers=4.2,local_lock=none,addr=192.0.2.1',
  '41 35 0:51 / /c rw,relatime shared:9 - nfs host:/y rw,vers=3,nolock,local_lock=all,addr=192.0.2.1',
  '42 35 0:52 / /d rw,relatime shared:9 - nfs host:/z rw,vers=3,local_lock=flock',
  '43 35 0:53 / /e rw,relatime shared:9 - nfs host:/z rw,vers=3,local_lock=posix',
  'a broken line',
  '',
].join('\n');

describe('file system facts', () => {
  it('reads type and options past the optional fields of a mount', () => {
    expect(parseMountInfo(MOUNTS).map((m) => [m.device, ...Object.values(fileSystemFacts(m))])).toEqual([
      ['98:0', 'ext3', false, true],
      ['0:50', 'nfs4', true, false],
      ['0:51', 'nfs', true, true],
      ['0:52', 'nfs', true, true],
      ['0:53', 'nfs', true, false],
    ]);
  });

  it('finds the mount of a path', () => {
    using dir = tmpDir();
    expect(lockFileSystem(dir.path)).toMatchObject({ nfs: false, localLocks: true });
    expect(lockFileSystem('/proc')).toMatchObject({ type: 'proc', nfs: false });
  });

  (canMountDisk() ? it : it.skip)('tells a mount from the file system below it (needs root for a tmpfs)', () => {
    using disk = smallDisk({ bytes: 65_536 });
    expect(lockFileSystem(disk.path).type).toBe('tmpfs');
  });

  it('fails as the system does where there is no such path', () => {
    expect(() => lockFileSystem('/nonexistent-quicksilver')).toThrow(expect.objectContaining({ code: 'ENOENT' }));
  });
});
