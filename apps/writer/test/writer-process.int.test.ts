import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { killGroup, tied, waitFor } from '@quicksilver/testing';
import { processExists, Site } from './support/site.ts';

const SERVICE = fileURLToPath(new URL('./support/service.ts', import.meta.url));
const SHIPPED = fileURLToPath(new URL('../dist/main.js', import.meta.url));

let site: Site;
const children: ChildProcess[] = [];
beforeEach(async () => {
  site = await Site.start();
});
afterEach(async () => {
  for (const child of children.splice(0)) killGroup(child, 'SIGKILL');
  await site[Symbol.asyncDispose]();
});

function start(file: string, env: Record<string, string | undefined> = {}) {
  const child = spawn(...tied(process.execPath, [file]), {
    env: { PATH: process.env.PATH, NODE_NO_WARNINGS: '1', ...site.env, QUICKSILVER_GRACE: '200', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  children.push(child);
  const lines: Record<string, unknown>[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line)));
  const exit = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
  const said = (msg: string) => waitFor(() => lines.find((line) => line.msg === msg), { what: `"${msg}"` });
  return { child, lines, exit, said };
}

describe('K069: the stop signal', () => {
  it.each([
    ['the service as shipped', SHIPPED],
    ['over the fake engine', SERVICE],
  ])('drains an idle writer and exits with 0: %s', async (_, file) => {
    const { child, exit, said } = start(file);
    await said('listening');
    child.kill('SIGTERM');
    expect(await exit).toEqual({ code: 0, signal: null });
    await said('draining');
    await said('drained');
  });

  it('K067: hands a running job back without costing an attempt, at every roll-out, and exits with 0', async () => {
    const { jobId } = await site.add('/sleep/60000', { attempts: 1 });
    for (let round = 1; round <= 3; round += 1) {
      const { child, exit, said } = start(SERVICE);
      await said('job begins');
      child.kill('SIGTERM');
      expect(await exit).toEqual({ code: 0, signal: null });
      await said('job handed back');
      const job = await site.job(jobId);
      expect([await job.getState(), job.attemptsMade, job.attemptsStarted]).toEqual(['waiting', 0, round]);
    }
    expect(site.engines.filter(processExists)).toEqual([]);
  });

  it('lets an engine end its work, although a terminal sent the signal to the whole group', async () => {
    const { jobId } = await site.add('/sleep/800');
    const { child, exit } = start(SERVICE, { QUICKSILVER_GRACE: '5000' });
    await waitFor(() => site.engines.length === 1);
    killGroup(child, 'SIGINT');
    expect(await exit).toEqual({ code: 0, signal: null });
    expect(await site.state(jobId)).toBe('completed');
  });

  it('exits with 0 in time although Redis is away and a job is under way', async () => {
    await site.add('/sleep/60000');
    const { child, exit } = start(SERVICE);
    await waitFor(() => site.engines.length === 1);
    await site.server.kill9();
    const began = Date.now();
    child.kill('SIGTERM');
    expect(await exit).toEqual({ code: 0, signal: null });
    expect(Date.now() - began).toBeLessThan(8000);
    await site.server.start();
  });
});

describe('when a writer dies', () => {
  it('its engines end with it, busy to the last thread or not, and the job is taken up by another', async () => {
    const short = { QUICKSILVER_LOCK_DURATION: '1000', QUICKSILVER_STALLED_INTERVAL: '300' };
    const { jobId } = await site.add('/busy/3000');
    const first = start(SERVICE, short);
    await waitFor(() => site.engines.length === 1);
    first.child.kill('SIGKILL');
    await first.exit;
    await waitFor(() => site.engines.every((pid) => !processExists(pid)), { deadline: 2000 });
    start(SERVICE, short);
    await waitFor(async () => (await site.state(jobId)) === 'completed', { deadline: 20_000 });
    expect((await site.job(jobId)).attemptsMade).toBe(1);
  });
});

describe('configuration', () => {
  it('ends with 78 and names the settings that are wrong, without their values', async () => {
    const { exit, lines } = start(SHIPPED, { REDIS_URL: 'ftp://u:hunter2@h', QUICKSILVER_VOLUMES: undefined });
    expect(await exit).toEqual({ code: 78, signal: null });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ level: 'fatal', settings: ['REDIS_URL', 'QUICKSILVER_VOLUMES'] });
    expect(JSON.stringify(lines)).not.toContain('hunter2');
  });
});
