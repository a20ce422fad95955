import { mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { HgError } from '@quicksilver/hg-types';
import { hasErrno, makeDirectory } from './durable.ts';
import type { Attempt, LaneTask } from './fences.ts';
import { emptyTrash, moveToTrash } from './trash.ts';
import type { Volume } from './volume.ts';

/**
 * The folder in which an attempt fetches: `spool/<task>/<fence>/`, with what earlier attempts of the task fetched. It
 * is taken over by a rename, so that an attempt that was overtaken finds its folder gone rather than ours.
 *
 * @throws HgError HG_FENCED when a later attempt has it already.
 */
export async function takeSpool(volume: Volume, { task, mirror }: LaneTask, { fence }: Attempt): Promise<string> {
  const home = volume.paths.spool(task.id);
  await makeDirectory(home);
  const own = join(home, String(fence));
  const fences = (await readdir(home)).map(Number).filter(Number.isSafeInteger);
  fences.sort((a, b) => b - a);
  if ((fences[0] ?? 0) > fence) {
    throw new HgError('HG_FENCED', 'the attempt was overtaken before it fetched', { mirror, fence });
  }
  let taken = false;
  const trash: string[] = [];
  for (const earlier of fences) {
    const path = join(home, String(earlier));
    if (!taken) taken = await renamed(path, own);
    else trash.push((await moveToTrash(volume, path)) ?? path);
  }
  if (!taken) await mkdir(own, { mode: 0o700 });
  await emptyTrash(trash);
  return own;
}

/** Everything that a task has fetched goes out of the way. @returns what is to be removed. */
export async function trashSpool(volume: Volume, taskId: string): Promise<string[]> {
  const entry = await moveToTrash(volume, volume.paths.spool(taskId));
  return entry === undefined ? [] : [entry];
}

async function renamed(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (err) {
    if (hasErrno(err, 'ENOENT')) return false;
    throw err;
  }
}
