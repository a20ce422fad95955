import { execFile } from 'node:child_process';
import { constants } from 'node:os';
import { promisify } from 'node:util';
import { libc, systemError } from './libc.ts';

type SyncFs = { async(fd: number, done: (err: unknown, result: number) => void): void };
let call: SyncFs | undefined;

/**
 * Writes back everything of the file system that `fd` lies on, off the event loop (a koffi thread). Where C cannot
 * be called, `sync -f` of the machine does the same from a process of its own.
 */
export async function syncFileSystem(fd: number): Promise<void> {
  const c = libc();
  if (!c || process.platform !== 'linux') {
    const args = process.platform === 'linux' ? ['-f', `/proc/${process.pid}/fd/${fd}`] : [];
    await promisify(execFile)('sync', args);
    return;
  }
  call ??= c.handle.func('syncfs', 'int', ['int']) as SyncFs;
  const run = call;
  const result = await new Promise<number>((resolve, reject) => {
    run.async(fd, (err, value) => {
      if (err === null || err === undefined) resolve(value);
      else reject(err instanceof Error ? err : new Error('the call was not made', { cause: err }));
    });
  });
  // errno belongs to the thread that made the call and is gone; a failed write-back is what syncfs reports.
  if (result !== 0) throw systemError(constants.errno.EIO, 'syncfs');
}
