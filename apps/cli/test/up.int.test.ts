import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { processStartTime } from '@quicksilver/native';
import { startRedis, tmpDir, waitFor } from '@quicksilver/testing';
import { startUp, type UpProcess } from './up-process.ts';

const started: UpProcess[] = [];
const start: typeof startUp = (...args) => {
  const up = startUp(...args);
  started.push(up);
  return up;
};
afterEach(() => {
  for (const up of started.splice(0)) up.child.kill('SIGKILL');
});

const alive = (pid: number) => processStartTime(pid) !== undefined;
const childPids = (data: string) =>
  readdirSync(`${data}/run`).map((file) => Number(JSON.parse(readFileSync(`${data}/run/${file}`, 'utf8')).pid));

describe('up', () => {
  it('drains API, writer and closer on Ctrl-C while Redis still answers, then stops Redis and exits 0', async () => {
    using dir = tmpDir();
    const up = start(dir, { env: { FAKE_DRAIN: '150' } });
    const url = await up.ready();
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const pids = childPids(dir.join('data'));
    expect(pids).toHaveLength(4);
    up.child.kill('SIGINT');
    expect(await up.exit).toBe(0);
    const words = up.log().map(([name, what]) => `${name} ${what}`);
    expect(words.slice(0, 3).sort()).toEqual(['api listening', 'closer listening', 'writer listening']);
    expect(words.slice(3, 6).sort()).toEqual(['api draining', 'closer draining', 'writer draining']);
    expect(words.slice(6).sort()).toEqual(['api drained', 'closer drained', 'writer drained']);
    expect(pids.filter(alive)).toEqual([]);
    expect(childPids(dir.join('data'))).toEqual([]);
  });

  it('refuses a data directory that another one holds, and says who', async () => {
    using dir = tmpDir();
    const first = start(dir);
    const url = await first.ready();
    const second = start(dir);
    expect(await second.exit).toBe(1);
    expect(second.stderr()).toContain(`pid ${first.child.pid}`);
    expect(second.stderr()).toContain(url);
    expect(second.stderr()).not.toMatch(/^\s+at /m);
    expect((await fetch(`${url}/readyz`)).ok).toBe(true);
  });

  it('starts a service that was killed again, on the same port', async () => {
    using dir = tmpDir();
    const up = start(dir);
    const url = await up.ready();
    const pidOf = (name: string) =>
      Number(up.log().findLast(([who, what]) => who === name && what === 'listening')?.[2]);
    for (const name of ['api', 'writer']) {
      const before = pidOf(name);
      process.kill(before, 'SIGKILL');
      await waitFor(() => pidOf(name) !== before, { what: `another ${name}` });
    }
    expect((await fetch(`${url}/readyz`)).ok).toBe(true);
    expect(up.stderr()).toMatch(/api ended \(signal SIGKILL\), starting it again in 0.25 s/);
  });

  it('uses the Redis that REDIS_URL names, and leaves it running', async () => {
    using dir = tmpDir();
    const redis = await startRedis();
    try {
      const up = start(dir, { env: { REDIS_URL: redis.url, PATH: '/nonexistent' } });
      await up.ready();
      expect(readdirSync(dir.join('data/run')).sort()).toEqual(['api.json', 'closer.json', 'writer.json']);
      up.child.kill('SIGTERM');
      expect(await up.exit).toBe(0);
    } finally {
      await redis.stop();
    }
  });

  it('starts a Redis that was killed again, at the same address', async () => {
    using dir = tmpDir();
    const up = start(dir);
    await up.ready();
    const pidFile = dir.join('data/run/redis.json');
    const { pid } = JSON.parse(readFileSync(pidFile, 'utf8'));
    process.kill(pid, 'SIGKILL');
    await waitFor(() => JSON.parse(readFileSync(pidFile, 'utf8')).pid !== pid, { what: 'another Redis' });
    up.child.kill('SIGTERM');
    expect(await up.exit).toBe(0);
  });

  it('takes a signal that comes twice at once, as wrappers send it, for one', async () => {
    using dir = tmpDir();
    const up = start(dir, { env: { FAKE_DRAIN: '100' } });
    await up.ready();
    up.child.kill('SIGTERM');
    up.child.kill('SIGINT');
    expect(await up.exit).toBe(0);
    expect(up.log().filter(([, what]) => what === 'drained')).toHaveLength(3);
  });

  it('leaves no child behind when it is killed itself, and the next one starts on the same data', async () => {
    using dir = tmpDir();
    const first = start(dir);
    await first.ready();
    const pids = childPids(dir.join('data'));
    first.child.kill('SIGKILL');
    await waitFor(() => !pids.some(alive), { what: 'all children gone' });
    const second = start(dir);
    await second.ready();
  });

  it('ends what a killed run had left all the same, and nothing that only has its pid', async () => {
    using dir = tmpDir();
    mkdirSync(dir.join('data/run'), { recursive: true });
    const left = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    const pid = left.pid ?? 0;
    writeFileSync(dir.join('data/run/redis.json'), JSON.stringify({ pid, started: processStartTime(pid) }));
    // A process that got an old pid has another start time.
    writeFileSync(dir.join('data/run/api.json'), JSON.stringify({ pid: process.pid, started: 1 }));
    const up = start(dir);
    await up.ready();
    expect(alive(pid)).toBe(false);
    expect(up.stderr()).toContain('ended what a killed run had left: redis\n');
  });

  it('says in one line which service does not start and why, and stops the others', async () => {
    using dir = tmpDir();
    const up = start(dir, { env: { FAKE_CRASH: 'writer' } });
    expect(await up.exit).toBe(1);
    expect(up.stderr()).toMatch(/quicksilver: the writer process does not start .*QUICKSILVER_GRACE.*writer\.log/);
    expect(up.stderr()).not.toMatch(/^\s+at /m);
    expect(childPids(dir.join('data'))).toEqual([]);
  });

  it('does not try again when a service cannot use a setting, and says which', async () => {
    using dir = tmpDir();
    const up = start(dir, { env: { FAKE_CONFIG: 'closer' } });
    expect(await up.exit).toBe(1);
    expect(up.stderr()).toMatch(/does not start .*said the configuration cannot be used: QUICKSILVER_GRACE: millis/);
    expect(up.stderr()).not.toContain('starting it again');
    expect(up.stderr()).not.toContain('\\x0a');
  });

  it('gives up on an API that does not become ready, with its reasons', async () => {
    using dir = tmpDir();
    const up = start(dir, { env: { FAKE_UNREADY: '1', FAKE_DEADLINE: '1500' } });
    expect(await up.exit).toBe(1);
    expect(up.stderr()).toMatch(/quicksilver: starting took too long .*because redis: it is away\)/);
    expect(childPids(dir.join('data'))).toEqual([]);
  });

  it('refuses a taken port before it starts anything', async () => {
    using dir = tmpDir();
    const server = createServer();
    const port = await new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () => {
        const address = server.address();
        resolve(typeof address === 'object' && address ? address.port : 0);
      });
    });
    const up = start(dir, { port });
    expect(await up.exit).toBe(1);
    server.close();
    expect(up.stderr()).toContain(`the port is taken (address 127.0.0.1:${port})`);
    expect(up.log()).toEqual([]);
  });

  it('works where the path of the data directory is long and has blanks', async () => {
    using dir = tmpDir();
    const data = dir.join('a folder with blanks', 'x'.repeat(120), "it's data");
    const up = start(dir, { data });
    await up.ready();
    const folder = readFileSync(`${data}/redis/socket-folder`, 'utf8');
    expect(existsSync(`${folder}/redis.sock`)).toBe(true);
    up.child.kill('SIGINT');
    expect(await up.exit).toBe(0);
    expect(existsSync(folder)).toBe(false);
  });

  it('says in one line that a data directory cannot be used', async () => {
    using dir = tmpDir();
    writeFileSync(dir.join('file'), '');
    const up = start(dir, { data: dir.join('file', 'data') });
    expect(await up.exit).toBe(1);
    expect(up.stderr()).toMatch(/quicksilver: the data directory cannot be used .*--data DIR/);
  });

  it('says in one line that redis-server is missing', async () => {
    using dir = tmpDir();
    const up = start(dir, { env: { PATH: '/nonexistent' } });
    expect(await up.exit).toBe(1);
    expect(up.stderr()).toMatch(/quicksilver: redis-server is not on PATH\. Install it/);
  });
});
