import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { killGroup, tied, waitFor } from '@quicksilver/testing';
import { Site, written } from './support/site.ts';

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

function start(file: string) {
  const child = spawn(...tied(process.execPath, [file]), {
    env: { PATH: process.env.PATH, NODE_NO_WARNINGS: '1', ...site.env, QUICKSILVER_GRACE: '200' },
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
  return { child, exit, said };
}

describe('K069: the stop signal', () => {
  it('drains an idle closer and exits with 0: the service as shipped', async () => {
    const { child, exit, said } = start(SHIPPED);
    await said('listening');
    child.kill('SIGTERM');
    expect(await exit).toEqual({ code: 0, signal: null });
    await said('draining');
    await said('drained');
  });

  it('hands a running close back without costing an attempt, and exits with 0', async () => {
    site.writer(written);
    const { child, exit, said } = start(SERVICE);
    const { jobId } = await site.add('sleep-60000');
    await said('job begins');
    child.kill('SIGTERM');
    expect(await exit).toEqual({ code: 0, signal: null });
    await said('job handed back');
    expect([await site.state(jobId), (await site.job(jobId)).attemptsMade]).toEqual(['waiting', 0]);
  });
});
