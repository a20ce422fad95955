import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processStartTime } from '@quicksilver/native';

/**
 * Children end with their supervisor (the kernel sees to it). Where that did not work, the next `up` finds them here
 * and ends them before it starts its own: two Redis servers on one append-only file would destroy it.
 */
export function recordChild(runDir: string, name: string, pid: number): void {
  writeFileSync(join(runDir, `${name}.json`), JSON.stringify({ pid, started: processStartTime(pid) }));
}

export function forgetChild(runDir: string, name: string): void {
  rmSync(join(runDir, `${name}.json`), { force: true });
}

/** How long a leftover may take to end by itself, in milliseconds. */
const PATIENCE = 5000;

/** Ends every recorded child that still runs, and returns their names. */
export async function endLeftovers(runDir: string): Promise<string[]> {
  const ended: string[] = [];
  for (const file of readdirSync(runDir)) {
    const child = readRecord(join(runDir, file));
    if (child && isSame(child)) {
      ended.push(file.replace(/\.json$/, ''));
      await end(child);
    }
    rmSync(join(runDir, file), { force: true });
  }
  return ended;
}

interface Recorded {
  readonly pid: number;
  readonly started: number;
}

function readRecord(path: string): Recorded | undefined {
  try {
    const { pid, started } = JSON.parse(readFileSync(path, 'utf8'));
    return Number.isInteger(pid) && Number.isInteger(started) ? { pid, started } : undefined;
  } catch {
    return undefined;
  }
}

/** A pid is used again; with the start time it names one process. */
function isSame({ pid, started }: Recorded): boolean {
  return processStartTime(pid) === started;
}

async function end(child: Recorded): Promise<void> {
  signal(child.pid, 'SIGTERM');
  for (let waited = 0; waited < PATIENCE && isSame(child); waited += 20) await sleep(20);
  if (isSame(child)) signal(child.pid, 'SIGKILL');
  while (isSame(child)) await sleep(20);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It ended between the question and the signal.
  }
}
