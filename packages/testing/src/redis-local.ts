import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { redisArguments, type TestRedis, type TestRedisOptions } from './redis-options.ts';
import { redisCommand } from './resp.ts';
import { tied } from './tied.ts';
import { waitFor } from './wait-for.ts';

/** `redis-server` on a unix socket; its folder is short because socket paths end at about 100 bytes. */
export async function startLocalRedis(options: TestRedisOptions): Promise<TestRedis> {
  const dir = mkdtempSync('/tmp/qsr-');
  const target = { path: join(dir, 's') };
  const args = ['--port', '0', '--unixsocket', target.path, '--dir', dir, ...redisArguments(options)];
  let server: ChildProcess | undefined;

  const start = async (): Promise<void> => {
    const child = spawn(...tied('redis-server', args), { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    server = child;
    let said = '';
    let failed: Error | undefined;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text: Buffer) => {
        said = `${said}${text.toString()}`.slice(-2000);
      });
    }
    child.once('error', (error) => {
      failed = error;
    });
    child.once('exit', (code, signal) => {
      failed ??= new Error(`redis-server ended (${signal ?? code}): ${said}`);
    });
    await waitFor(
      async () => {
        if (failed) return failed;
        return (await redisCommand(target, ['PING'])) === 'PONG';
      },
      { what: 'redis-server', interval: 5 },
    );
    if (failed) throw failed;
  };

  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const child = server;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await gone;
  };

  const stop = async (): Promise<void> => {
    server?.kill('SIGCONT');
    await end('SIGKILL');
    rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  };

  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    kind: 'local',
    url: `unix://${target.path}`,
    command: (...words) => redisCommand(target, words),
    flush: async () => void (await redisCommand(target, ['FLUSHALL'])),
    kill9: () => end('SIGKILL'),
    shutdown: () => end('SIGTERM'),
    start,
    freeze: async (on) => void server?.kill(on ? 'SIGSTOP' : 'SIGCONT'),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
