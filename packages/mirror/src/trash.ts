import { randomUUID } from 'node:crypto';
import { readdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { hasErrno } from './durable.ts';
import { parseStagingName } from './layout.ts';
import type { Volume } from './volume.ts';

/**
 * Out of the way at once, removed later: one rename, whatever the size. Everything in `trash/` may be removed by anyone
 * at any time. @returns where it went, or undefined when it is gone already.
 */
export async function moveToTrash(volume: Volume, path: string): Promise<string | undefined> {
  const target = join(volume.paths.folder('trash'), `${basename(path)}.${randomUUID()}`);
  try {
    await rename(path, target);
    return target;
  } catch (err) {
    if (hasErrno(err, 'ENOENT')) return undefined;
    throw err;
  }
}

/**
 * Removes what lies in the trash. Others may be removing the same: what is gone is gone.
 *
 * @returns what could not be removed. It is in nobody's way there, so no work fails for it.
 */
export async function emptyTrash(entries: readonly string[]): Promise<string[]> {
  const left: string[] = [];
  for (const entry of entries) {
    await rm(entry, { recursive: true, force: true, maxRetries: 3, retryDelay: 20 }).catch(() => left.push(entry));
  }
  return left;
}

export async function trashEntries(volume: Volume): Promise<string[]> {
  const folder = volume.paths.folder('trash');
  return (await readdir(folder)).map((name) => join(folder, name));
}

/** Removes all that lies in the trash now. @returns the number of entries that are gone */
export async function sweepTrash(volume: Volume): Promise<number> {
  const entries = await trashEntries(volume);
  return entries.length - (await emptyTrash(entries)).length;
}

/** Moves all that a task's attempts left in staging to the trash, except what belongs to one fence. */
export async function trashStaging(volume: Volume, taskId: string, keepFence?: number): Promise<string[]> {
  const moved: string[] = [];
  for (const name of await readdir(volume.paths.folder('staging'))) {
    const attempt = parseStagingName(name);
    if (attempt?.taskId !== taskId || attempt.fence === keepFence) continue;
    const entry = await moveToTrash(volume, volume.paths.staging(name));
    if (entry !== undefined) moved.push(entry);
  }
  return moved;
}
