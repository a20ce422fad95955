import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type HgSession, openHgSession } from './hg-session.ts';

const PREPARED = fileURLToPath(new URL('../../../.cache/hg/bin/hg', import.meta.url));

export interface HgResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface HgRunOptions {
  readonly cwd?: string;
  /** Milliseconds (default 60 s); then it is killed and the promise rejects. */
  readonly deadline?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** Anything that runs hg commands: a process each, or one process for many. */
export interface HgRunner {
  readonly version: string;
  run(args: readonly string[], options?: HgRunOptions): Promise<HgResult>;
}

export interface RealHg extends HgRunner {
  readonly path: string;
  /** One process for many commands (`hg serve --cmdserver`): about 20 times faster than a process each. */
  session(): Promise<HgSession>;
}

/** No user or system configuration, plain output, fixed user, time zone and encoding. */
export const HG_ENV: Readonly<Record<string, string>> = {
  HGRCPATH: '',
  HGPLAIN: '1',
  HGUSER: 'test',
  HGENCODING: 'utf-8',
  HGEDITOR: 'false',
  HOME: tmpdir(),
  TZ: 'UTC',
  LC_ALL: 'C.UTF-8',
};

let found: RealHg[] | undefined;

/**
 * Stock Mercurial, newest first: QUICKSILVER_TEST_HG (paths separated by `:`), else the one that `script/test` prepared
 * and the system's own. Empty where there is none.
 */
export function realHg(): readonly RealHg[] {
  found ??= candidates()
    .flatMap((path) => probe(path) ?? [])
    .sort((a, b) => b.version.localeCompare(a.version, 'en', { numeric: true }));
  return found;
}

/** The newest stock hg; throws where there is none. */
export function newestHg(): RealHg {
  const [newest] = realHg();
  if (!newest) throw new Error('these tests need Mercurial: run script/test, or set QUICKSILVER_TEST_HG');
  return newest;
}

function candidates(): string[] {
  const asked = process.env.QUICKSILVER_TEST_HG;
  if (asked) return asked.split(':').filter((path) => path !== '');
  return [PREPARED, '/usr/bin/hg', '/usr/local/bin/hg'].filter((path) => existsSync(path));
}

function probe(path: string): RealHg | undefined {
  const env = { ...process.env, ...HG_ENV };
  const asked = spawnSync(path, ['version', '-T', '{ver}'], { env, encoding: 'utf8' });
  if (asked.status !== 0) {
    if (process.env.QUICKSILVER_TEST_HG) throw new Error(`${path} is no working hg: ${asked.error ?? asked.stderr}`);
    return undefined;
  }
  const version = asked.stdout.trim();
  return {
    version,
    path,
    run: (args, options = {}) => runHg(path, args, options),
    session: () => openHgSession({ path, version, env }),
  };
}

function runHg(path: string, args: readonly string[], options: HgRunOptions): Promise<HgResult> {
  const { cwd, deadline = 60_000, env } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(path, args, {
      cwd,
      env: { ...process.env, ...HG_ENV, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: deadline,
      killSignal: 'SIGKILL',
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === null) reject(new Error(`hg ${args.join(' ')} was ended by ${signal}`));
      else resolve({ code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() });
    });
  });
}
