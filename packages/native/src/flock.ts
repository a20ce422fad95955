import { constants } from 'node:os';
import { CodedError } from '@quicksilver/bytes';
import { libc, systemError } from './libc.ts';

/** flock(2) operations; the same numbers on every system that has the call. */
const LOCK_SH = 1;
const LOCK_EX = 2;
const LOCK_NB = 4;
const LOCK_UN = 8;

type Flock = (fd: number, operation: number) => number;
let call: Flock | undefined;

function flock(fd: number, operation: number): number {
  const c = libc();
  if (!c) {
    // No second way exists that locks against other programs, and a lock that does not lock is worse than none.
    throw new CodedError('HG_UNSUPPORTED', 'this machine cannot lock files: koffi has no binary for it', {
      platform: `${process.platform}-${process.arch}`,
    });
  }
  call ??= c.handle.func('flock', 'int', ['int', 'int']) as Flock;
  for (;;) {
    if (call(fd, operation) === 0) return 0;
    const errno = c.koffi.errno();
    if (errno !== constants.errno.EINTR) return errno;
  }
}

/** Takes the lock of an open file if it is free, without waiting. It goes with the descriptor, also by kill -9. */
export function tryFlock(fd: number, mode: 'exclusive' | 'shared'): boolean {
  const errno = flock(fd, (mode === 'exclusive' ? LOCK_EX : LOCK_SH) | LOCK_NB);
  if (errno === 0) return true;
  if (errno === constants.errno.EWOULDBLOCK) return false;
  throw systemError(errno, 'flock');
}

export function unlock(fd: number): void {
  const errno = flock(fd, LOCK_UN);
  if (errno !== 0) throw systemError(errno, 'flock');
}
