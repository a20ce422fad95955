import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startRedis, type TestRedis } from '@quicksilver/testing';
import { waitFor } from '../wait.ts';
import { cloneData, pathOf, Site, untilAborted } from './site.ts';

describe('K071: Redis goes away', () => {
  let server: TestRedis;
  let site: Site;
  beforeEach(async () => {
    server = await startRedis({ appendOnly: true });
    site = new Site(server.url);
  });
  afterEach(async () => {
    await server.freeze(false);
    await site[Symbol.asyncDispose]();
    await server.stop();
  });

  it.each([
    ['killed and started again with what it had', () => server.kill9(), () => server.start()],
    ['frozen: connections stay open, nothing is answered', () => server.freeze(true), () => server.freeze(false)],
  ])(
    'red while it is %s; idle and busy workers go on by themselves',
    async (_, away, back) => {
      const queue = site.queue('main');
      const release = Promise.withResolvers<void>();
      const runs: string[] = [];
      const { health } = await site.start({
        volume: 'main',
        run: async (data) => {
          runs.push(pathOf(data));
          if (pathOf(data) === '/busy') await release.promise;
          return 'done';
        },
      });
      await waitFor(async () => (await health('readyz')).status === 200);
      await queue.add('clone', cloneData('main', '/busy'), { jobId: 'busy' });
      await waitFor(() => runs.includes('/busy'));

      await away();
      const red = await waitFor(async () => {
        const seen = await health('readyz');
        return seen.status === 503 && seen;
      });
      expect(red.text).toContain('Redis');
      expect((await health('healthz')).status).toBe(200);
      release.resolve();
      await sleep(1500);
      await back();

      const returned = Date.now();
      await queue.add('clone', cloneData('main', '/next'), { jobId: 'next' });
      await waitFor(() => runs.includes('/next'), { deadline: 30_000 });
      await waitFor(async () => (await (await queue.getJob('busy'))?.getState()) === 'completed', { deadline: 30_000 });
      await waitFor(async () => (await health('readyz')).status === 200, { deadline: 30_000 });
      expect(Date.now() - returned).toBeLessThan(15_000);
      expect(runs).toEqual(['/busy', '/next']);
    },
    60_000,
  );

  it('takes jobs again after it came back empty', async () => {
    const { health } = await site.start({ volume: 'main', run: async () => 'done' });
    await waitFor(async () => (await health('readyz')).status === 200);
    await server.flush();
    const queue = site.queue('main');
    await queue.add('clone', cloneData('main'), { jobId: 'fresh' });
    await waitFor(async () => (await (await queue.getJob('fresh'))?.getState()) === 'completed', { deadline: 30_000 });
  });

  it('does not need Redis to be there when the service starts', async () => {
    await server.kill9();
    const { health } = await site.start({ volume: 'main', run: async () => 'done' });
    const red = await health('readyz');
    expect(red.status).toBe(503);
    expect(red.text).toContain('Redis does not answer');
    await server.start();
    const queue = site.queue('main');
    await queue.add('clone', cloneData('main'), { jobId: 'fresh' });
    await waitFor(async () => (await (await queue.getJob('fresh'))?.getState()) === 'completed', { deadline: 30_000 });
    await waitFor(async () => (await health('readyz')).status === 200);
  });

  it('stops within its time although Redis is frozen and a job is under way', async () => {
    const queue = site.queue('main');
    let running = false;
    const { stop } = await site.start({
      volume: 'main',
      run: async (_data, ctx) => {
        running = true;
        await untilAborted(ctx.signal);
      },
    });
    await queue.add('clone', cloneData('main'), { jobId: 'busy' });
    await waitFor(() => running);
    await server.freeze(true);
    const began = Date.now();
    await stop();
    expect(Date.now() - began).toBeLessThan(7000);
    // A process would end here; inside this one the connections end once they can say so.
    await server.freeze(false);
    await waitFor(async () => (await (await queue.getJob('busy'))?.getState()) !== 'active', { deadline: 30_000 });
  });
});

describe('K073: Redis settings', () => {
  it('takes no job from a server that may evict, says why, and begins once that is put right', async () => {
    await using server = await startRedis({ policy: 'allkeys-lru' });
    await using site = new Site(server.url);
    const queue = site.queue('main');
    let runs = 0;
    await queue.add('clone', cloneData('main'), { jobId: 'waits' });
    const { health, lines } = await site.start({
      volume: 'main',
      run: async () => {
        runs += 1;
      },
    });
    await sleep(500);
    const red = await health('readyz');
    expect(red.status).toBe(503);
    expect(red.text).toContain('maxmemory-policy \\"allkeys-lru\\"');
    expect(red.text).toContain('noeviction');
    expect(runs).toBe(0);
    expect(lines.filter(({ msg }) => msg === 'not taking jobs yet')).toHaveLength(1);
    await server.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    await waitFor(() => runs === 1, { deadline: 40_000 });
  });

  it('waits for a volume that is not there yet', async () => {
    await using server = await startRedis();
    await using site = new Site(server.url);
    let mounted = false;
    const { health } = await site.start({
      volume: 'main',
      run: async () => 'done',
      ready: async () => (mounted ? { ok: true } : { ok: false, reason: 'volume.json is missing' }),
    });
    expect(await health('readyz')).toMatchObject({
      status: 503,
      text: expect.stringContaining('volume.json is missing'),
    });
    mounted = true;
    await waitFor(async () => (await health('readyz')).status === 200);
  });
});
