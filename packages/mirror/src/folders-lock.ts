import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tryFlock } from '@quicksilver/native';
import { Pauses } from './lane/pauses.ts';
import type { Volume } from './volume.ts';

/**
 * Folders below `mirrors/` belong to several mirrors. Whoever puts a link there holds this lock shared, so that no
 * folder it has just made or checked goes away or turns into something else; whoever removes folders holds it alone.
 */
export async function holdFolders(volume: Volume, signal: AbortSignal): Promise<AsyncDisposable> {
  const file = await openLock(volume);
  try {
    const pauses = new Pauses();
    while (!tryFlock(file.fd, 'shared')) await pauses.wait(signal);
    return file;
  } catch (err) {
    await file.close();
    throw err;
  }
}

/** Undefined when somebody publishes right now: empty folders can wait. */
export async function tryHoldFoldersAlone(volume: Volume): Promise<AsyncDisposable | undefined> {
  const file = await openLock(volume);
  if (tryFlock(file.fd, 'exclusive')) return file;
  await file.close();
  return undefined;
}

function openLock(volume: Volume): Promise<FileHandle> {
  return open(volume.paths.foldersLock, constants.O_RDWR | constants.O_CREAT, 0o644);
}
