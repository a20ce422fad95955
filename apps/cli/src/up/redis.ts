import { existsSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { AdvisedError } from '../cli/faults.ts';
import type { ChildSpec } from './child.ts';

/** Unix socket addresses hold 107 bytes; some clients add a few of their own. */
const LONGEST_SOCKET_PATH = 100;
const SOCKET_DIR_PREFIX = 'quicksilver-redis-';
const STOP_DEADLINE = 10_000;

export interface RedisPlan {
  readonly spec: ChildSpec;
  /** What the services get as REDIS_URL. */
  readonly url: string;
  /** Removes what lies outside the data directory. */
  cleanUp(): void;
}

/** @throws HgError HG_NOT_FOUND when there is no redis-server on PATH */
export function planRedis(redisDir: string, env: NodeJS.ProcessEnv): RedisPlan {
  const program = findProgram('redis-server', env);
  if (!program) {
    throw new AdvisedError('HG_NOT_FOUND', 'redis-server is not on PATH', {
      advice: 'Install it (Debian: apt-get install redis-server), or set REDIS_URL to one that runs.',
    });
  }
  const { socket, cleanUp } = planSocket(redisDir);
  const settings: readonly (readonly [string, string])[] = [
    ['port', '0'],
    ['unixsocket', socket],
    ['unixsocketperm', '700'],
    ['dir', redisDir],
    ['appendonly', 'yes'],
    // What is wanted is in the database and what is done is on the volume, so a second of queue that a power cut takes
    // is made again by the API. A killed process loses nothing: the kernel has what it wrote.
    ['appendfsync', 'everysec'],
    ['save', ''],
    ['maxmemory-policy', 'noeviction'],
    ['daemonize', 'no'],
    ['always-show-logo', 'no'],
    ['logfile', ''],
  ];
  const args = settings.flatMap(([name, value]) => [`--${name}`, value]);
  const wrapper = fileURLToPath(new URL(ownFile('exec-redis'), import.meta.url));
  const spec: ChildSpec = {
    name: 'redis',
    command: process.execPath,
    args: ['--disable-warning=ExperimentalWarning', wrapper, program, ...args],
    env: () => ({ ...env, QUICKSILVER_PARENT: String(process.pid) }),
    cwd: redisDir,
    stopDeadline: STOP_DEADLINE,
  };
  return { spec, url: socket, cleanUp };
}

/** A module beside this one, run from `src` or from `dist`. */
export function ownFile(name: string): string {
  return import.meta.url.endsWith('.ts') ? `./${name}.ts` : `./${name}.js`;
}

/** In the data directory, or in a short private folder that is noted there for whoever has to remove it. */
function planSocket(redisDir: string): { socket: string; cleanUp: () => void } {
  const note = join(redisDir, 'socket-folder');
  removeNotedFolder(note);
  const near = join(redisDir, 'redis.sock');
  if (Buffer.byteLength(near) <= LONGEST_SOCKET_PATH) return { socket: near, cleanUp: () => {} };
  const short = Buffer.byteLength(tmpdir()) <= LONGEST_SOCKET_PATH - 40 ? tmpdir() : '/tmp';
  const folder = mkdtempSync(join(short, SOCKET_DIR_PREFIX));
  writeFileSync(note, folder);
  return { socket: join(folder, 'redis.sock'), cleanUp: () => removeNotedFolder(note) };
}

function removeNotedFolder(note: string): void {
  if (!existsSync(note)) return;
  const folder = readFileSync(note, 'utf8');
  // Only what this code can have made: the note is a file that anyone with the data directory could write.
  if (basename(folder).startsWith(SOCKET_DIR_PREFIX) && dirname(folder) !== folder) {
    rmSync(join(folder, 'redis.sock'), { force: true });
    if (existsSync(folder)) rmdirSync(folder);
  }
  rmSync(note, { force: true });
}

export function findProgram(name: string, env: NodeJS.ProcessEnv): string | undefined {
  return (env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));
}

/** Resolves once Redis answers PING; one that is loading its file is waited for as long as `signal` allows. */
export async function redisAnswers(socket: string, signal: AbortSignal): Promise<void> {
  while (!(await ping(socket))) {
    signal.throwIfAborted();
    await sleep(15, undefined, { signal });
  }
}

function ping(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = connect(path);
    const answer = (ok: boolean) => {
      connection.destroy();
      resolve(ok);
    };
    connection.setTimeout(1000, () => answer(false));
    connection.once('connect', () => connection.write('PING\r\n'));
    connection.once('data', (bytes) => answer(bytes.toString('latin1').startsWith('+PONG')));
    connection.once('error', () => answer(false));
    connection.once('close', () => answer(false));
  });
}
