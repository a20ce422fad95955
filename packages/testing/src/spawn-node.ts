import { spawn } from 'node:child_process';
import { tied } from './tied.ts';

export interface SpawnNodeOptions {
  readonly args?: readonly string[];
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly execArgv?: readonly string[];
  readonly cwd?: string;
  /** Milliseconds; then the child and its children are killed and `timedOut` is set (default 30 s). */
  readonly deadline?: number;
  /** Program to run instead of this Node, for example `sh` with a `ulimit`; it gets Node's path as first argument. */
  readonly wrapper?: readonly string[];
}

export interface SpawnResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
}

/** Runs a `.ts` or `.js` file in a Node of its own, in its own process group, and collects what it says. */
export function spawnNode(file: string, options: SpawnNodeOptions = {}): Promise<SpawnResult> {
  const { args = [], env, execArgv = [], cwd, deadline = 30_000, wrapper = [] } = options;
  const [program = process.execPath, ...rest] = [...wrapper, process.execPath, ...execArgv, file, ...args];
  const child = spawn(...tied(program, rest), {
    cwd,
    env: { ...process.env, NODE_NO_WARNINGS: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    killGroup(child, 'SIGKILL');
  }, deadline);
  return new Promise((resolve, reject) => {
    child.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      const [stdout, stderr] = [out, err].map((parts) => Buffer.concat(parts).toString()) as [string, string];
      resolve({ code, signal, stdout, stderr, timedOut });
    });
  });
}

/** Signals a process that leads its own group, and all in that group. Gone already is fine. */
export function killGroup(child: { readonly pid?: number | undefined }, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // No such group: it has ended.
  }
}
