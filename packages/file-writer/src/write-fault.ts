import { HgError, toHgError } from '@quicksilver/hg-types';

/**
 * Errors of system calls on the target. A missing path means here that the target itself went away, not that a
 * source is missing; an errno without a class of its own is the disk's, not a bug.
 */
export function writeFault(err: unknown, where: Readonly<Record<string, string | number>>): HgError {
  const { code, syscall } = err as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    const facts = { ...(syscall ? { call: syscall } : {}), ...where };
    return new HgError('HG_TARGET_GONE', 'the target was moved or removed while it was written', facts, err);
  }
  const fault = toHgError(err, where);
  if (fault.code === 'HG_INTERNAL' && typeof code === 'string' && typeof syscall === 'string') {
    return new HgError('HG_IO', `the system answered ${code}`, { call: syscall, ...where }, err);
  }
  return fault;
}
