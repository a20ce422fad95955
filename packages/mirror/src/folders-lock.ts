import type { FileHandle } from 'node:fs/promises';
import { tryFlock } from '@quicksilver/native';
import { ownHolder } from './lane/holder.ts';
import { type LockOptions, openLockFile, waitForLock, writeHolder } from './lane/lock-file.ts';
import type { Volume } from './volume.ts';

/**
 * Folders below `mirrors/` belong to several mirrors. Whoever puts a link there holds this lock shared, so that no
 * folder it has just made or checked goes away or turns into something else; whoever removes folders holds it alone.
 */
export async function holdFolders(volume: Volume, options: LockOptions): Promise<AsyncDisposable> {
  const file = await openLockFile(volume.paths.foldersLock);
  try {
    await waitForLock(file, 'shared', options);
    return file;
  } catch (err) {
    await file.close();
    throw err;
  }
}

/** Undefined when somebody publishes right now: empty folders can wait. */
export async function tryHoldFoldersAlone(volume: Volume): Promise<AsyncDisposable | undefined> {
  const file = await openLockFile(volume.paths.foldersLock);
  try {
    if (tryFlock(file.fd, 'exclusive')) return await heldAlone(file);
  } catch (err) {
    await file.close();
    throw err;
  }
  await file.close();
  return undefined;
}

async function heldAlone(file: FileHandle): Promise<AsyncDisposable> {
  await writeHolder(file, ownHolder());
  return {
    [Symbol.asyncDispose]: async () => {
      try {
        await writeHolder(file, undefined);
      } finally {
        await file.close();
      }
    },
  };
}
