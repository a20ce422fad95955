import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface Measured {
  readonly seconds: number;
  /** Of the process itself, sampled: shared and file-backed pages are not counted. */
  readonly peakRssAnonMb: number;
  readonly stdout: string;
}

const SAMPLE_EVERY = 5;

/** Runs a command from start to end of its process; a failure is an error, never a figure. */
export function measuredRun({ program, args, env }: Command): Promise<Measured> {
  const started = performance.now();
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  let peak = 0;
  const sampler = setInterval(() => {
    peak = Math.max(peak, rssAnonKb(child.pid));
  }, SAMPLE_EVERY);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => clearInterval(sampler));
    child.once('close', (code) => {
      const seconds = (performance.now() - started) / 1000;
      const stdout = Buffer.concat(out).toString();
      if (code === 0) resolve({ seconds, peakRssAnonMb: peak / 1024, stdout });
      else reject(new Error(`${program} ${args.join(' ')} ended with ${code}: ${Buffer.concat(err).toString()}`));
    });
  });
}

function rssAnonKb(pid: number | undefined): number {
  try {
    return Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}
