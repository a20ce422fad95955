import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export type MapWay = 'none' | 'eager' | 'background' | 'auto' | 'read';

export interface MapAsk {
  readonly path: string;
  readonly ways: readonly MapWay[];
  /** All bytes in order; two hundred thousand places at random; a thousand. */
  readonly use: 'sequential' | 'random' | 'few';
  /** Drops the file from the page cache before each turn. */
  readonly cold: boolean;
  readonly rounds: number;
}

export interface MapReport {
  readonly sums: readonly number[];
  readonly times: Readonly<Record<string, number[]>>;
}

const CHILD = fileURLToPath(new URL('../map-child.js', import.meta.url));

/** All ways in turns, in one process of its own. */
export async function runMapChild(ask: MapAsk): Promise<MapReport> {
  const child = spawn(process.execPath, ['--expose-gc', CHILD, JSON.stringify(ask)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const out: Buffer[] = [];
  child.stdout.on('data', (piece: Buffer) => out.push(piece));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${CHILD} ended with ${String(code)}`);
  return JSON.parse(Buffer.concat(out).toString()) as MapReport;
}

export interface Holders {
  stop(): Promise<void>;
  memory(): { anon: number; file: number; pss: number };
}

/** Processes that have read a file and hold it. */
export async function startHolders(path: string, way: MapWay, count: number): Promise<Holders> {
  const children: ChildProcess[] = [];
  for (let i = 0; i < count; i++) {
    const child = spawn(process.execPath, [CHILD, JSON.stringify({ path, hold: way })], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    children.push(child);
    if (child.stdout) await once(child.stdout, 'data');
  }
  return {
    memory: () => ({
      anon: sum(children, 'status', 'RssAnon'),
      file: sum(children, 'status', 'RssFile') + sum(children, 'status', 'RssShmem'),
      pss: sum(children, 'smaps_rollup', 'Pss'),
    }),
    stop: async () => {
      for (const child of children) {
        child.stdin?.end(); // it ends when its input does
        if (child.exitCode === null) await once(child, 'close');
      }
    },
  };
}

function sum(children: readonly ChildProcess[], table: string, field: string): number {
  return children.reduce((total, { pid }) => {
    const text = readFileSync(`/proc/${pid}/${table}`, 'latin1');
    return total + Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);
  }, 0);
}
