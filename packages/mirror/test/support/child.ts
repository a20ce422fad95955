import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { tied, waitFor } from '@quicksilver/testing';
import type { Checkpoint } from '../../src/checkpoints.ts';
import type { OperationName, Operations } from './operations.ts';

const ENGINE = fileURLToPath(new URL('./engine.ts', import.meta.url));

export interface EngineEnd {
  readonly signal: string | null;
  readonly result?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
  readonly stderr: string;
}

export interface Engine {
  readonly pid: number;
  /** Resolves when the process says that it is at its checkpoint, and for SIGSTOP: when it has stopped. */
  readonly at: Promise<void>;
  readonly end: Promise<EngineEnd>;
  kill(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void;
}

export interface EngineOptions {
  readonly checkpoint?: Checkpoint;
  readonly signal?: 'SIGKILL' | 'SIGSTOP';
  readonly env?: Readonly<Record<string, string>>;
}

/** One operation in a process of its own, tied to this one. */
export function startEngine<N extends OperationName>(
  operation: N,
  input: Operations[N],
  options: EngineOptions = {},
): Engine {
  const { checkpoint, signal = 'SIGKILL', env } = options;
  const order = { operation, input, ...(checkpoint ? { at: { checkpoint, signal } } : {}) };
  const child = spawn(...tied(process.execPath, [ENGINE, JSON.stringify(order)]), {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_NO_WARNINGS: '1', ...env },
  });
  const pid = child.pid ?? 0;
  const reached = Promise.withResolvers<void>();
  let words: Partial<EngineEnd> = {};
  let stderr = '';
  createInterface({ input: child.stdout }).on('line', (line) => {
    const said = JSON.parse(line) as { at?: string } & Partial<EngineEnd>;
    if (said.at !== undefined) reached.resolve();
    else words = said;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const end = new Promise<EngineEnd>((resolve) => {
    child.once('close', (_code, how) => {
      reached.reject(new Error(`the engine ended before it came to ${checkpoint}: ${stderr}`));
      resolve({ signal: how, stderr, ...words });
    });
  });
  const stops = signal === 'SIGSTOP' && checkpoint !== undefined;
  const at = reached.promise.then(async () => void (stops && (await waitFor(() => isStopped(pid)))));
  at.catch(() => {});
  return { pid, at, end, kill: (how) => void child.kill(how) };
}

/** Runs one operation to its end. */
export async function runEngine<N extends OperationName>(
  operation: N,
  input: Operations[N],
  options: EngineOptions = {},
): Promise<EngineEnd> {
  return startEngine(operation, input, options).end;
}

async function isStopped(pid: number): Promise<boolean> {
  const { readFile } = await import('node:fs/promises');
  const text = await readFile(`/proc/${pid}/stat`, 'latin1');
  return text.slice(text.lastIndexOf(')') + 2).startsWith('T');
}
