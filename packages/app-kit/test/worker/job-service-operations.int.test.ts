import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Progress, REDIS_KEYS, ServiceHeartbeat } from '@quicksilver/jobs';
import { startRedis, type TestRedis } from '@quicksilver/testing';
import { Worker } from 'bullmq';
import { waitFor } from '../wait.ts';
import { cloneData, Site } from './site.ts';

let server: TestRedis;
let site: Site;
let volumes = 0;
const newVolume = () => `v${volumes++}`;

beforeAll(async () => {
  server = await startRedis();
  site = new Site(server.url);
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await server.stop();
});

const stateOf = async (queue: ReturnType<Site['queue']>, id: string) => (await queue.getJob(id))?.getState();

describe('what others see', () => {
  it('tells who serves a queue, with its slots and the delay of its loop, and no longer when it has gone', async () => {
    const volume = newVolume();
    const { stop } = await site.start({ volume, run: async () => 'x', concurrency: 3 });
    const pattern = REDIS_KEYS.heartbeatPattern('clone', volume);
    const keys = await waitFor(async () => {
      const found = await site.redis.keys(pattern);
      return found.length > 0 && found;
    });
    const beat = ServiceHeartbeat.parse(JSON.parse((await site.redis.get(keys[0] ?? '')) ?? ''));
    expect(beat).toMatchObject({ kind: 'clone', volume, concurrency: 3, active: 0, pid: process.pid });
    expect(await site.redis.ttl(keys[0] ?? '')).toBeGreaterThan(5);
    await stop();
    expect(await site.redis.keys(pattern)).toEqual([]);
  });

  it('K075: writes at most one progress update per second, always the latest, with a rate', async () => {
    const volume = newVolume();
    const queue = site.queue(volume);
    const { stop } = await site.start({
      volume,
      run: async (_data, ctx) => {
        for (let n = 1; n <= 500; n += 1) {
          ctx.onProgress({ stage: 'write', files: { done: n, total: 500 }, bytes: { done: n * 1000, total: 500_000 } });
          await sleep(4);
        }
        await sleep(1200);
      },
    });
    await queue.add('clone', cloneData(volume), { jobId: 'busy' });
    await waitFor(async () => (await stateOf(queue, 'busy')) === 'completed', { deadline: 30_000 });
    const { processedOn = 0, finishedOn = 0 } = (await queue.getJob('busy')) ?? {};
    const events = await site.redis.xrange(`${queue.qualifiedName}:events`, '-', '+');
    const updates = events.filter(([, fields]) => fields.includes('progress'));
    expect(updates.length).toBeGreaterThan(1);
    expect(updates.length).toBeLessThanOrEqual(Math.floor((finishedOn - processedOn) / 1000) + 2);
    const last = Progress.parse((await queue.getJob('busy'))?.progress);
    expect(last).toMatchObject({ stage: 'write', files: { done: 500, total: 500 } });
    expect(last.rate).toBeGreaterThan(1000);
    await stop();
  });

  it('counts how runs end', async () => {
    const volume = newVolume();
    const queue = site.queue(volume);
    const { stop, url } = await site.start({ volume, run: async () => 'x' });
    await queue.add('clone', cloneData(volume), { jobId: 'one' });
    await waitFor(async () => (await stateOf(queue, 'one')) === 'completed');
    const text = await (await fetch(`${url}/metrics`)).text();
    expect(text).toMatch(new RegExp(`quicksilver_job_runs_total\\{.*volume="${volume}",end="completed".*\\} 1`));
    await stop();
  });
});

describe('concurrency', () => {
  it('changes live, also while every slot is busy with a long job', async () => {
    const volume = newVolume();
    const queue = site.queue(volume);
    let running = 0;
    const release = Promise.withResolvers<void>();
    const { stop, sizes } = await site.start({
      volume,
      concurrency: 1,
      run: async () => {
        running += 1;
        await release.promise;
        running -= 1;
      },
    });
    for (let n = 0; n < 6; n += 1) await queue.add('clone', cloneData(volume), { jobId: `j${n}` });
    await waitFor(() => running === 1);
    await sleep(100);
    expect(running).toBe(1);
    await site.redis.hset(REDIS_KEYS.concurrency, queue.name, '3');
    await site.redis.publish(REDIS_KEYS.concurrencyChannel, queue.name);
    await waitFor(() => running === 3, { deadline: 2000 });
    await sleep(100);
    expect(running).toBe(3);
    expect(sizes.at(-1)).toBe(3);
    await site.redis.hdel(REDIS_KEYS.concurrency, queue.name);
    await site.redis.publish(REDIS_KEYS.concurrencyChannel, queue.name);
    await waitFor(() => sizes.at(-1) === 1);
    release.resolve();
    await waitFor(async () => (await queue.getJobCountByTypes('completed')) === 6);
    await stop();
  });

  it('ends with the latest number, however quickly changes of several queues follow each other', async () => {
    const [volume, other] = [newVolume(), newVolume()];
    const { stop, service, lines } = await site.start({
      volume,
      run: async () => 'done',
      options: {
        volumes: [volume, other].map((name) => ({ name, path: '/' })),
        watch: {
          newWorker: (name, processor, options) => {
            const worker = new Worker(name, processor, options);
            const pause = worker.pause.bind(worker);
            // While one queue is being changed, the next change is told.
            worker.pause = async (...args) => {
              await sleep(200);
              return pause(...args);
            };
            return worker;
          },
        },
      },
    });
    await waitFor(() => lines.filter(({ msg }) => msg === 'taking jobs').length === 2);
    const queues = service.consumers.map(({ queue }) => queue);
    for (const [at, queue] of queues.entries()) {
      await site.redis.hset(REDIS_KEYS.concurrency, queue, String(5 + at));
      await site.redis.publish(REDIS_KEYS.concurrencyChannel, queue);
      await sleep(50);
    }
    await sleep(700);
    expect(service.consumers.map(({ concurrency }) => concurrency)).toEqual([5, 6]);
    await stop();
  });

  it('is read at start', async () => {
    const volume = newVolume();
    await site.redis.hset(REDIS_KEYS.concurrency, `clone@${volume}`, '4');
    const { stop, service } = await site.start({ volume, run: async () => 'x' });
    await waitFor(() => service.consumers[0]?.concurrency === 4);
    await stop();
  });
});

describe('K071: the watch over the worker', () => {
  it('goes red when jobs wait and none is taken, makes the worker anew, and goes green when it takes one', async () => {
    const volume = newVolume();
    const queue = site.queue(volume);
    const seen: number[] = [];
    let made = 0;
    const { stop, health, url } = await site.start({
      volume,
      run: async () => 'taken',
      options: {
        watch: {
          stuckAfterMs: 400,
          lookEveryMs: 50,
          // The first two look alive and never take a job.
          newWorker: (name, processor, options) => {
            made += 1;
            return new Worker(name, processor, { ...options, autorun: made > 2 });
          },
        },
      },
    });
    await waitFor(async () => (await health('readyz')).status === 200);
    await queue.add('clone', cloneData(volume), { jobId: 'waits' });
    await waitFor(async () => {
      const { status, text } = await health('healthz');
      seen.push(status);
      return status === 503 && text.includes('none is taken');
    });
    await waitFor(async () => (await stateOf(queue, 'waits')) === 'completed');
    await waitFor(async () => (await health('healthz')).status === 200);
    expect(made).toBe(3);
    expect(await (await fetch(`${url}/metrics`)).text()).toMatch(/quicksilver_workers_renewed_total\{.*\} 2/);
    await stop();
  });

  it('stays green when nothing may be taken: paused, full here, full everywhere', async () => {
    const volume = newVolume();
    const queue = site.queue(volume);
    const release = Promise.withResolvers<void>();
    const { stop, health, lines } = await site.start({
      volume,
      concurrency: 1,
      run: () => release.promise,
      options: { watch: { stuckAfterMs: 150, lookEveryMs: 30 } },
    });
    await queue.setGlobalConcurrency(1);
    await queue.add('clone', cloneData(volume), { jobId: 'runs' });
    await waitFor(async () => (await stateOf(queue, 'runs')) === 'active');
    await queue.add('clone', cloneData(volume), { jobId: 'waits' });
    await sleep(400);
    await site.redis.hset(REDIS_KEYS.concurrency, queue.name, '2');
    await site.redis.publish(REDIS_KEYS.concurrencyChannel, queue.name);
    await sleep(400);
    await queue.pause();
    await queue.removeGlobalConcurrency();
    await sleep(400);
    expect((await health('healthz')).status).toBe(200);
    expect(lines.filter(({ msg }) => String(msg).includes('anew'))).toEqual([]);
    release.resolve();
    await queue.resume();
    await waitFor(async () => (await stateOf(queue, 'waits')) === 'completed');
    await stop();
  });
});
