import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { libc } from './libc.ts';

/** States of /proc/<pid>/stat in which a process is dead and only waits for its parent to notice. */
const DEAD_STATES = new Set(['Z', 'X', 'x']);
/** Fields after the command name start at field 3 (state); starttime is field 22 (man proc_pid_stat). */
const STATE = 0;
const START_TIME = 22 - 3;

/**
 * When a process started, in clock ticks since boot: with the pid it names one process for good, however pids are
 * used again. Undefined: no such process any more, or no way to know on this system.
 */
export function processStartTime(pid: number): number | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // The command name is in parentheses and may hold blanks and parentheses itself.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[STATE];
  const start = Number(fields[START_TIME]);
  if (state === undefined || DEAD_STATES.has(state) || !Number.isSafeInteger(start)) return undefined;
  return start;
}

let boot: string | undefined;

/** One value per boot of the machine. Where it cannot be known, one that equals no other: nothing looks resumable. */
export function bootId(): string {
  if (boot === undefined) {
    try {
      boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    } catch {
      boot = `unknown-${randomUUID()}`;
    }
  }
  return boot;
}

const PR_SET_PDEATHSIG = 1;
const SIGKILL = 9;

/**
 * Asks the kernel to kill this process when the thread that started it ends: an engine never outlives its service.
 * A no-op where there is no such call (the child then ends on disconnect of its channel). A child that was told its
 * parent's pid passes it: it then also ends when that parent died before this call.
 */
export function dieWithParent(parent: number = process.ppid): void {
  if (process.platform !== 'linux') return;
  const c = libc();
  if (!c) return;
  const prctl = c.handle.func('prctl', 'int', ['int', 'ulong', 'ulong', 'ulong', 'ulong']);
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  // It may have died before the call: then nobody would ever send the signal.
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
}
