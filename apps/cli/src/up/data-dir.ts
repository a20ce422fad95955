import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { toHgError } from '@quicksilver/hg-types';
import { tryFlock } from '@quicksilver/native';
import { AdvisedError } from '../cli/faults.ts';

/** Where `up` keeps everything when it is not told. */
export function defaultDataDir(env: NodeJS.ProcessEnv): string {
  if (env.QUICKSILVER_DATA) return resolve(env.QUICKSILVER_DATA);
  return join(env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'quicksilver');
}

/**
 * The directory that one `up` owns: its lock goes with the process, also by kill -9, so a lock file that is left lying
 * never blocks anyone.
 */
export class DataDir implements Disposable {
  readonly path: string;
  #lock: number | undefined;

  private constructor(path: string, lock: number) {
    this.path = path;
    this.#lock = lock;
  }

  /** @throws HgError HG_LOCKED naming the holder, or a storage fault when it cannot be written */
  static open(path: string): DataDir {
    const root = resolve(path);
    let fd: number;
    try {
      mkdirSync(root, { recursive: true });
      fd = openSync(join(root, 'lock'), 'a+');
    } catch (err) {
      const cause = whyNoDirectory(root) ?? err;
      const why = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
      throw new AdvisedError(toHgError(cause).code, 'the data directory cannot be used', {
        where: { data: root, why },
        advice: 'Give one that you may write to with --data DIR.',
        cause,
      });
    }
    try {
      if (!tryFlock(fd, 'exclusive')) throw inUse(root);
      const dir = new DataDir(root, fd);
      dir.describe({});
      for (const part of [dir.logs, dir.run]) mkdirSync(part, { recursive: true });
      mkdirSync(dir.redis, { recursive: true, mode: 0o700 });
      return dir;
    } catch (err) {
      closeSync(fd);
      throw err;
    }
  }

  get database(): string {
    return join(this.path, 'quicksilver.sqlite');
  }
  get volume(): string {
    return join(this.path, 'volume');
  }
  get redis(): string {
    return join(this.path, 'redis');
  }
  get logs(): string {
    return join(this.path, 'logs');
  }
  /** One small file per child: who it was, for the next `up`. */
  get run(): string {
    return join(this.path, 'run');
  }

  /** What a second `up` is told about the first. */
  describe(facts: { readonly url?: string }): void {
    if (this.#lock === undefined) return;
    ftruncateSync(this.#lock);
    const holder = { pid: process.pid, since: new Date().toISOString(), ...facts };
    writeSync(this.#lock, `${JSON.stringify(holder)}\n`);
  }

  [Symbol.dispose](): void {
    if (this.#lock !== undefined) closeSync(this.#lock);
    this.#lock = undefined;
  }
}

function inUse(root: string): AdvisedError {
  const holder = readHolder(root);
  const stop = holder.pid === undefined ? 'Stop that one' : `Stop that one (kill ${holder.pid})`;
  return new AdvisedError('HG_LOCKED', 'the data directory is in use by another quicksilver', {
    where: { data: root, ...holder },
    advice: `${stop}, or give another directory with --data DIR.`,
  });
}

function readHolder(root: string): Record<string, string | number> {
  try {
    const holder: unknown = JSON.parse(readFileSync(join(root, 'lock'), 'utf8'));
    if (typeof holder !== 'object' || holder === null) return {};
    const known = Object.entries(holder).filter(([, value]) => typeof value === 'string' || typeof value === 'number');
    return Object.fromEntries(known);
  } catch {
    // Being written this moment: the fact that it is locked is enough.
    return {};
  }
}

/** Node's recursive mkdir says ENOENT also where a file system is read-only: the folder above knows better. */
function whyNoDirectory(path: string): unknown {
  let above = path;
  while (!existsSync(above) && dirname(above) !== above) above = dirname(above);
  try {
    accessSync(above, constants.W_OK);
    return undefined;
  } catch (err) {
    return err;
  }
}
