import { statfsSync } from 'node:fs';
import { canMapFiles } from '@quicksilver/native';
import type { OpenFile } from './open-file.ts';

/**
 * Why nobody shortens a file while it is mapped, which would end the process. The caller declares it:
 * - `staging`, `spool`: the file is this task's own, and no one else writes there;
 * - `generation`: part of a published generation that is held open; those never change;
 * - `locked-store`: part of a repository whose lock is held.
 */
export type StableBy = 'staging' | 'spool' | 'generation' | 'locked-store';

export type MapRefusal = 'unstable' | 'machine' | 'size' | 'file-system';

/** The largest mapping that is known to work as one view; what is larger is read in place. */
export const MAX_MAPPED_BYTES = 12 * 1024 * 1024 * 1024;

/**
 * File systems of this machine alone, by magic number (man 2 statfs). On any other, and on NFS above all, another
 * host may shorten a file, and a server that goes away turns a read of memory into the end of the process.
 */
const LOCAL_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // xfs
  0x9123683e, // btrfs
  0x01021994, // tmpfs
  0xf2f52010, // f2fs
  0x2fc12fc1, // zfs
  0x794c7630, // overlayfs, whose upper layer cannot be an NFS
  0xca451a4e, // bcachefs
  0x3153464a, // jfs
]);

/** The one place that decides whether a file may be mapped. Undefined: it may. */
export function mapRefusal(file: OpenFile, stable: StableBy | undefined): MapRefusal | undefined {
  if (stable === undefined) return 'unstable';
  if (file.size > MAX_MAPPED_BYTES) return 'size';
  if (!canMapFiles()) return 'machine';
  // By the open file, not by its path: the answer is about what will be mapped.
  return isLocalFileSystem(`/proc/self/fd/${file.fd}`) ? undefined : 'file-system';
}

export function isLocalFileSystem(path: string): boolean {
  try {
    return isLocalMagic(statfsSync(path).type);
  } catch {
    return false; // no /proc: then nothing is known
  }
}

export function isLocalMagic(magic: number): boolean {
  return LOCAL_FILE_SYSTEMS.has(magic >>> 0);
}
