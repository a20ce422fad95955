import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** True for an errno error with one of these codes. */
export function hasErrno(err: unknown, ...codes: readonly string[]): boolean {
  return err instanceof Error && 'code' in err && typeof err.code === 'string' && codes.includes(err.code);
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

/** A file that is whole and durable, or absent: written as `part` on the same file system, synced, then renamed. */
export async function writeDurably(path: string, text: string, part: string): Promise<void> {
  await rm(part, { force: true }); // left by an attempt that was killed here
  {
    await using file = await open(part, 'wx');
    await writeFully(file, Buffer.from(text), 0);
    await file.sync();
  }
  await rename(part, path);
  await syncDirectory(dirname(path));
}

/** Makes one directory durably; one that is there already is fine. */
export async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (err) {
    if (hasErrno(err, 'EEXIST')) return;
    throw err;
  }
  await syncDirectory(join(path, '..'));
}
