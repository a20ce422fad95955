import { randomUUID } from 'node:crypto';
import { chmod, chown, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasErrno } from '../durable.ts';

/** Side files are small; what is larger than this is not one. */
export async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (err) {
    if (hasErrno(err, 'ENOENT')) return undefined;
    throw err;
  }
}

/**
 * Replaces a file of a repository in one step, by way of a folder outside of it: a kill leaves the old file or the new
 * one, and nothing beside them. Mode and owner come from `like`, a file that was written with the repository.
 */
export async function replaceFile(
  path: string,
  bytes: Uint8Array,
  options: { part: string; like: string },
): Promise<void> {
  const { part, like } = options;
  try {
    await writeFile(part, bytes, { flag: 'wx', flush: true });
    const { mode, uid, gid } = await stat(like);
    await chmod(part, mode & 0o777);
    const made = await stat(part);
    if (made.uid !== uid || made.gid !== gid) await chown(part, uid, gid);
    await rename(part, path);
  } finally {
    await rm(part, { force: true });
  }
}

/** A name for `replaceFile` in a folder of one's own. */
export function partIn(folder: string): () => string {
  return () => join(folder, `${randomUUID()}.part`);
}
