import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TmpDir extends Disposable {
  readonly path: string;
  /** Path of something inside it. */
  join(...names: string[]): string;
}

/** A private directory, removed with all it holds at the end of its scope (`using dir = tmpDir('x')`). */
export function tmpDir(prefix = 'quicksilver'): TmpDir {
  const path = mkdtempSync(join(tmpdir(), `${prefix}-`));
  return {
    path,
    join: (...names) => join(path, ...names),
    // A process that was just killed may still add a file while the tree is removed: try again.
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }),
  };
}

export interface SmallDiskOptions {
  readonly bytes: number;
  readonly inodes?: number;
}

/** A file system of its own, with little room: for full disks. */
export interface SmallDisk extends TmpDir {
  /** Mounts it read-only (true) or writable again (false). */
  readOnly(on: boolean): void;
}

let mountable: boolean | undefined;

/** True where this process may mount a tmpfs (root in its own mount namespace). Tests skip by name elsewhere. */
export function canMountDisk(): boolean {
  if (mountable === undefined) {
    mountable = false;
    if (process.platform === 'linux' && process.getuid?.() === 0) {
      using probe = tmpDir('quicksilver-probe');
      mountable = mount(['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', probe.path]);
      if (mountable) unmount(probe.path);
    }
  }
  return mountable;
}

export function smallDisk(options: SmallDiskOptions): SmallDisk {
  const dir = tmpDir('quicksilver-disk');
  const settings = `size=${options.bytes}${options.inodes === undefined ? '' : `,nr_inodes=${options.inodes}`}`;
  if (!mount(['-t', 'tmpfs', '-o', settings, 'tmpfs', dir.path])) {
    dir[Symbol.dispose]();
    throw new Error('a tmpfs cannot be mounted here');
  }
  return {
    path: dir.path,
    join: (...names) => dir.join(...names),
    readOnly: (on) => {
      if (!mount(['-o', `remount,${on ? 'ro' : 'rw'}`, dir.path])) throw new Error('the tmpfs cannot be remounted');
    },
    [Symbol.dispose]: () => {
      unmount(dir.path);
      dir[Symbol.dispose]();
    },
  };
}

function mount(args: string[]): boolean {
  return spawnSync('mount', args, { stdio: 'ignore' }).status === 0;
}

/** Lazily: a killed process may hold a descriptor for another moment. */
function unmount(path: string): void {
  spawnSync('umount', ['-l', path], { stdio: 'ignore' });
}
