import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type TmpDir, waitFor } from '@quicksilver/testing';

const DRIVER = fileURLToPath(new URL('./run-up.ts', import.meta.url));

export interface UpProcess {
  readonly child: ChildProcess;
  readonly exit: Promise<number | null>;
  readonly stderr: () => string;
  /** Address of the API, once all is ready. */
  ready(): Promise<string>;
  /** What the stand-ins wrote: `[name, what, pid]` each. */
  log(): string[][];
}

/** Runs `up` with stand-in services in a process of its own; its log lies beside the data directory. */
export function startUp(
  dir: TmpDir,
  options: { data?: string; port?: number; env?: NodeJS.ProcessEnv } = {},
): UpProcess {
  const { data = dir.join('data'), port = 0, env = {} } = options;
  const log = dir.join('services.log');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', DRIVER, data, String(port)], {
    env: { ...process.env, REDIS_URL: '', FAKE_LOG: log, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
  const find = (type: string) => {
    for (const line of stdout.split('\n').slice(0, -1)) {
      const record: Record<string, unknown> = JSON.parse(line);
      if (record.type === type) return record;
    }
    return undefined;
  };
  return {
    child,
    exit,
    stderr: () => stderr,
    ready: async () => String((await waitFor(() => find('ready'), { what: 'readiness' })).url),
    log: () => readLog(log),
  };
}

function readLog(path: string): string[][] {
  try {
    const text = readFileSync(path, 'utf8');
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => line.split(' '));
  } catch {
    return [];
  }
}
