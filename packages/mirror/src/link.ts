import type { Stats } from 'node:fs';
import { lstat, readdir, readlink, rename, rm, rmdir, symlink, unlink } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { HgError } from '@quicksilver/hg-types';
import { hasErrno, makeDirectory, syncDirectory } from './durable.ts';
import type { Volume } from './volume.ts';

/** The generation that the link of a mirror shows; undefined where there is no link of ours. */
export async function shownGeneration(volume: Volume, mirror: string): Promise<number | undefined> {
  const path = volume.paths.link(mirror);
  let target: string;
  try {
    target = await readlink(path);
  } catch (err) {
    if (hasErrno(err, 'ENOENT', 'ENOTDIR', 'EINVAL')) return undefined;
    throw err;
  }
  const match = /^([1-9][0-9]{0,9})$/.exec(relative(volume.paths.generations(mirror), resolve(dirname(path), target)));
  return match ? Number(match[1]) : undefined;
}

/**
 * Refuses a name whose place below `mirrors/` is taken by something that is not a link of ours, or lies inside another
 * mirror: making folders through that one's link would write into a repository.
 */
export async function checkLinkPlace(volume: Volume, mirror: string): Promise<void> {
  const segments = mirror.split('/');
  for (let depth = 1; depth <= segments.length; depth++) {
    const path = join(volume.paths.folder('mirrors'), ...segments.slice(0, depth));
    const stat = await lstatOrUndefined(path);
    const fits = depth === segments.length ? stat?.isSymbolicLink() : stat?.isDirectory();
    if (stat && !fits) throw inTheWay(mirror, path);
  }
}

/** Makes the folders above the link and makes them durable. The folders lock is held (shared). */
export async function makeLinkFolders(volume: Volume, mirror: string): Promise<void> {
  await checkLinkPlace(volume, mirror);
  let parent = volume.paths.folder('mirrors');
  for (const segment of mirror.split('/').slice(0, -1)) {
    const path = join(parent, segment);
    if (!(await makeDirectory(path, volume.access))) {
      // Somebody else made it since it was looked at: perhaps as a link.
      if (!(await lstatOrUndefined(path))?.isDirectory()) throw inTheWay(mirror, path);
      await syncDirectory(parent); // and perhaps has not come to this yet
    }
    parent = path;
  }
}

/** A new link, made beside staging: renaming it over the old one is then the one step that readers see. */
export async function stageLink(volume: Volume, mirror: string, options: { n: number; part: string }): Promise<void> {
  const { n, part } = options;
  await rm(part, { force: true });
  await symlink(relative(dirname(volume.paths.link(mirror)), volume.paths.generation(mirror, n)), part);
}

export async function renameLink(volume: Volume, mirror: string, part: string): Promise<void> {
  const path = volume.paths.link(mirror);
  try {
    await rename(part, path);
  } catch (err) {
    if (!hasErrno(err, 'EISDIR', 'ENOTDIR', 'EEXIST', 'ENOTEMPTY')) throw err;
    throw inTheWay(mirror, path, err);
  }
  await syncDirectory(dirname(path));
}

/** Only ever a link: what else may be there is not ours to remove. */
export async function removeLink(volume: Volume, mirror: string): Promise<void> {
  const path = volume.paths.link(mirror);
  const stat = await lstatOrUndefined(path);
  if (!stat?.isSymbolicLink()) return;
  await unlink(path).catch((err: unknown) => {
    if (!hasErrno(err, 'ENOENT')) throw err;
  });
  await syncDirectory(dirname(path));
}

/** Removes what became empty above a link that is gone. The folders lock is held alone. */
export async function removeEmptyFoldersAbove(volume: Volume, mirror: string): Promise<void> {
  const top = volume.paths.folder('mirrors');
  let folder = dirname(volume.paths.link(mirror));
  while (folder.startsWith(`${top}${sep}`) && (await removeIfEmpty(folder))) folder = dirname(folder);
}

/** Removes all empty folders below `mirrors/`. The folders lock is held alone. @returns how many. */
export async function removeEmptyFolders(volume: Volume): Promise<number> {
  const removeBelow = async (folder: string): Promise<number> => {
    let count = 0;
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (!entry.isDirectory()) continue;
      const path = join(folder, entry.name);
      count += await removeBelow(path);
      if (await removeIfEmpty(path)) count++;
    }
    return count;
  };
  return removeBelow(volume.paths.folder('mirrors'));
}

async function removeIfEmpty(folder: string): Promise<boolean> {
  try {
    await rmdir(folder);
    return true;
  } catch (err) {
    if (hasErrno(err, 'ENOENT')) return true;
    if (hasErrno(err, 'ENOTEMPTY', 'EEXIST', 'EBUSY')) return false;
    throw err;
  }
}

async function lstatOrUndefined(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (err) {
    if (hasErrno(err, 'ENOENT', 'ENOTDIR')) return undefined;
    throw err;
  }
}

function inTheWay(mirror: string, path: string, cause?: unknown): HgError {
  return new HgError('HG_EXISTS', 'another mirror or file is in the way of this name', { mirror, path }, cause);
}
