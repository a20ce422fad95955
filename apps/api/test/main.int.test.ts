import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnNode, startRedis, type TestRedis, tied, tmpDir } from '@quicksilver/testing';
import { listen } from './support/sse-client.ts';

// As shipped: the built program, not the sources.
const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));

let redis: TestRedis;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

describe('the API as a process', () => {
  it('K069: says where it listens, ends its streams on SIGTERM and exits 0', async () => {
    using dir = tmpDir('quicksilver-main');
    const child = spawn(...tied(process.execPath, [MAIN]), {
      env: {
        ...process.env,
        REDIS_URL: redis.url,
        QUICKSILVER_PORT: '0',
        // Its folder is made.
        QUICKSILVER_DATABASE: dir.join('new', 'api.db'),
        QUICKSILVER_VOLUMES: `main=${dir.join('volume')}`,
        QUICKSILVER_SOURCE_ROOTS: '/srv',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const url = await listening(child);
      const posted = await fetch(`${url}/v1/mirrors`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'a', source: '/srv/a.hg' }),
      });
      const { task } = Object(await posted.json());
      const client = await listen(url, task.id);
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      await client.ended;
      expect(await exit).toEqual([0, null]);
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('names the settings that are wrong, not their values, and exits 78', async () => {
    const env = {
      REDIS_URL: 'http://user:hunter2@host',
      QUICKSILVER_VOLUMES: 'Main=relative',
      QUICKSILVER_DATABASE: '',
    };
    const { code, stdout, stderr } = await spawnNode(MAIN, { env });
    expect(code).toBe(78);
    const said = `${stdout}${stderr}`;
    for (const name of Object.keys(env)) expect(said).toContain(name);
    expect(said).not.toMatch(/hunter2|relative|\n\s+at /);
  });
});

async function listening(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('no output');
  for await (const line of createInterface({ input: child.stdout })) {
    const { msg, url } = JSON.parse(line);
    if (msg === 'listening') return url;
  }
  throw new Error('it ended without listening');
}
