import { constants } from 'node:fs';
import { chmod, chown, type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** True for an errno error with one of these codes. */
export function hasErrno(err: unknown, ...codes: readonly string[]): boolean {
  return typeof err === 'object' && err !== null && 'code' in err && codes.some((code) => code === err.code);
}

/** Makes what was renamed, made or removed in a directory survive a power cut. */
export async function syncDirectory(path: string): Promise<void> {
  await using dir = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await dir.sync();
  } catch (err) {
    // Some network file systems have no such call: there, names are durable once the server answered.
    if (!hasErrno(err, 'EINVAL', 'ENOTSUP')) throw err;
  }
}

/** `write` may take fewer bytes than it was given; this does not end before all are down. */
export async function writeFully(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

/** Who may use what is written, where configuration says more than umask and process do. */
export interface Access {
  readonly fileMode?: number | undefined;
  readonly dirMode?: number | undefined;
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
}

export interface DurableWrite {
  /** A path of this attempt alone on the same file system. */
  readonly part: string;
  readonly access?: Access | undefined;
}

/** A file that is whole and durable, or absent: written as `part`, synced, then renamed. */
export async function writeDurably(path: string, text: string, { part, access = {} }: DurableWrite): Promise<void> {
  await rm(part, { force: true }); // left by an attempt that was killed here
  {
    await using file = await open(part, 'wx');
    await writeFully(file, Buffer.from(text), 0);
    if (access.owner) await file.chown(access.owner.uid, access.owner.gid);
    if (access.fileMode !== undefined) await file.chmod(access.fileMode);
    await file.sync();
  }
  await rename(part, path);
  await syncDirectory(dirname(path));
}

/** Makes one directory durably. @returns false when it was there already. */
export async function makeDirectory(path: string, access: Access = {}): Promise<boolean> {
  try {
    await mkdir(path);
  } catch (err) {
    if (hasErrno(err, 'EEXIST')) return false;
    throw err;
  }
  if (access.owner) await chown(path, access.owner.uid, access.owner.gid);
  if (access.dirMode !== undefined) await chmod(path, access.dirMode);
  await syncDirectory(dirname(path));
  return true;
}
