import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { HgError } from '@quicksilver/hg-types';
import { Problem, Progress, REDIS_KEYS, ServiceHeartbeat } from '@quicksilver/jobs';
import { startRedis, type TestRedis } from '@quicksilver/testing';
import { Worker } from 'bullmq';
import type { JobContext } from '../../src/worker/job-handler.ts';
import { waitFor } from '../wait.ts';
import { cloneData, MIRROR, Site, untilAborted } from './site.ts';

let server: TestRedis;
let site: Site;
let volumes = 0;
const newVolume = () => `v${volumes++}`;
const stopped = (ctx: JobContext) => untilAborted(AbortSignal.any([ctx.signal, ctx.cancelSignal]));

beforeAll(async () => {
  server = await startRedis();
  site = new Site(server.url);
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await server.stop();
});

const stateOf = async (queue: ReturnType<Site['queue']>, id: string) => (await queue.getJob(id))?.getState();

describe('payloads', () => {
  it('hands a job of a newer version back with a delay, without costing an attempt', async () => {
    const volume = newVolume();
    const queue = site.queue(volume);
    const { stop } = await site.start({ volume, run: async () => 'never' });
    await queue.add('clone', { ...cloneData(volume), v: 2 }, { jobId: 'newer', attempts: 2 });
    await waitFor(async () => (await stateOf(queue, 'newer')) === 'delayed');
    const job = await queue.getJob('newer');
    expect(job?.attemptsMade).toBe(0);
    expect(job?.data).toMatchObject({ v: 2 });
    expect(job?.delay).toBeGreaterThan(1000);
    await stop();
  });

  it('fails a malformed job for good, with a problem as its reason', async () => {
    const volume = newVolume();
    const queue = site.queue(volume);
    const { stop } = await site.start({ volume, run: async () => 'never' });
    await queue.add('clone', { v: 1, nonsense: true }, { jobId: 'bad', attempts: 5 });
    await waitFor(async () => (await stateOf(queue, 'bad')) === 'failed');
    const job = await queue.getJob('bad');
    expect(job?.attemptsMade).toBe(1);
    expect(Problem.parse(JSON.parse(job?.failedReason ?? ''))).toMatchObject({ stage: 'queue', retryable: false });
    await stop();
  });
});

describe('faults', () => {
  it('K119: tries a retryable fault again, ends a lasting one, and tells class, stage and advice', async () => {
    const volume = newVolume();
    const queue = site.queue(volume);
    let tries = 0;
    const { stop } = await site.start({
      volume,
      run: async (data, ctx) => {
        ctx.onProgress({ stage: 'write', files: { done: 1, total: 2 }, bytes: { done: 1, total: 2 } });
        if (data.source.path === '/full') throw new HgError('HG_NO_SPACE', 'no room', { wanted: 2, free: 1 });
        tries += 1;
        if (tries < 3) throw new HgError('HG_IO', 'the disk reported an error', { file: 'a' });
        return 'done';
      },
    });
    const options = { attempts: 4, backoff: { type: 'fixed', delay: 20 } };
    await queue.add('clone', cloneData(volume), { ...options, jobId: 'again' });
    await queue.add('clone', cloneData(volume, '/full'), { ...options, jobId: 'full' });
    await waitFor(async () => (await stateOf(queue, 'again')) === 'completed');
    await waitFor(async () => (await stateOf(queue, 'full')) === 'failed');
    expect((await queue.getJob('again'))?.attemptsMade).toBe(3);
    const full = await queue.getJob('full');
    expect(full?.attemptsMade).toBe(1);
    expect(JSON.parse(full?.failedReason ?? '')).toEqual({
      code: 'HG_NO_SPACE',
      class: 'storage',
      stage: 'write',
      message: 'no room',
      where: { wanted: 2, free: 1 },
      retryable: false,
      advice: expect.stringContaining('free room'),
    });
    expect(JSON.stringify(full?.stacktrace)).not.toContain('.ts');
    await stop();
  });

  it('bounds and escapes what a fault brings along from a bundle', async () => {
    const volume = newVolume();
    const queue = site.queue(volume);
    const { stop } = await site.start({
      volume,
      run: async () => {
        throw new HgError('HG_CORRUPT', `bad name ${'x'.repeat(100_000)}`, {
          name: `\u001b[31m${'y'.repeat(100_000)}`,
        });
      },
    });
    await queue.add('clone', cloneData(volume), { jobId: 'long', attempts: 1 });
    await waitFor(async () => (await stateOf(queue, 'long')) === 'failed');
    const reason = (await queue.getJob('long'))?.failedReason ?? '';
    expect(reason.length).toBeLessThan(4000);
    expect(reason).not.toContain('\u001b');
    expect(Problem.safeParse(JSON.parse(reason)).success).toBe(true);
    await stop();
  });
});

describe('a host that has lost its volume', () => {
  it('hands back what fails meanwhile, lasting fault or not, and costs it no attempt', async () => {
    const volume = newVolume();
    const queue = site.queue(volume);
    let mounted = true;
    const { stop, lines } = await site.start({
      volume,
      ready: async () => (mounted ? { ok: true } : { ok: false, reason: 'the mount has gone' }),
      run: async () => {
        if (!mounted) throw new HgError('HG_NOT_FOUND', 'no volume: volume.json is missing');
        return 'done';
      },
    });
    await waitFor(() => lines.some(({ msg }) => msg === 'taking jobs'));
    mounted = false;
    await queue.add('clone', cloneData(volume), { jobId: 'unfit', attempts: 1 });
    await waitFor(async () => (await stateOf(queue, 'unfit')) === 'delayed');
    const job = await queue.getJob('unfit');
    expect([job?.attemptsMade, job?.failedReason]).toEqual([0, undefined]);
    expect(lines).toContainEqual(expect.objectContaining({ job: 'unfit', reason: 'the mount has gone' }));
    mounted = true;
    await job?.promote();
    await waitFor(async () => (await stateOf(queue, 'unfit')) === 'completed');
    await stop();
  });
});

describe('K090: cancel', () => {
  it('ends a job that had waited, without beginning its work', async () => {
    const volume = newVolume();
    const queue = site.queue(volume);
    let runs = 0;
    const data = cloneData(volume);
    await site.redis.set(REDIS_KEYS.cancel(data.task.id), '1');
    await queue.add('clone', data, { jobId: 'waited', attempts: 4 });
    const { stop } = await site.start({
      volume,
      run: async () => {
        runs += 1;
      },
    });
    await waitFor(async () => (await stateOf(queue, 'waited')) === 'failed');
    expect(runs).toBe(0);
    const job = await queue.getJob('waited');
    expect(job?.attemptsMade).toBe(1);
    expect(JSON.parse(job?.failedReason ?? '')).toMatchObject({ code: 'HG_CANCELLED', class: 'cancelled' });
    await stop();
  });

  it.each([
    ['a signal', true],
    ['the flag alone, when the signal was lost', false],
  ])('stops a running job within two seconds by %s', async (_, publish) => {
    const volume = newVolume();
    const queue = site.queue(volume);
    let running = false;
    const { stop } = await site.start({
      volume,
      run: async (_data, ctx) => {
        running = true;
        await stopped(ctx);
      },
    });
    const data = cloneData(volume);
    await queue.add('clone', data, { jobId: 'runs', attempts: 4 });
    await waitFor(() => running);
    const began = Date.now();
    const signal = JSON.stringify({ v: 1, task: data.task, mirror: MIRROR, volume });
    await site.redis.set(REDIS_KEYS.cancel(data.task.id), signal);
    if (publish) await site.redis.publish(REDIS_KEYS.cancelChannel, signal);
    await waitFor(async () => (await stateOf(queue, 'runs')) === 'failed');
    expect(Date.now() - began).toBeLessThan(2000);
    expect((await queue.getJob('runs'))?.attemptsMade).toBe(1);
    await stop();
  });

  it('tells the volume of a cancel although no job of the task runs here, and again when it failed', async () => {
    const volume = newVolume();
    const asked: string[] = [];
    const { stop } = await site.start({
      volume,
      run: async () => 'x',
      onCancel: async ({ task }) => {
        asked.push(task.id);
        if (asked.length === 1) throw new HgError('HG_LOCKED', 'held', {});
      },
    });
    await waitFor(async () => (await site.redis.pubsub('NUMSUB', REDIS_KEYS.cancelChannel))[1] !== 0);
    const { task } = cloneData(volume);
    const signal = JSON.stringify({ v: 1, task, mirror: MIRROR, volume });
    await sleep(200);
    await site.redis.publish(REDIS_KEYS.cancelChannel, 'not json');
    await site.redis.publish(REDIS_KEYS.cancelChannel, signal);
    await waitFor(() => asked.length === 2);
    expect(asked).toEqual([task.id, task.id]);
    await stop();
  });

  it('looks up cancels that were asked for while nobody listened', async () => {
    const volume = newVolume();
    const { task } = cloneData(volume);
    const signal = JSON.stringify({ v: 1, task, mirror: MIRROR, volume });
    await site.redis.set(REDIS_KEYS.cancel(task.id), signal);
    const settled = cloneData(volume).task;
    const old = JSON.stringify({ v: 1, task: settled, mirror: MIRROR, volume });
    await site.redis.set(REDIS_KEYS.cancel(settled.id), old);
    await site.redis.set(REDIS_KEYS.outcome(settled.id), '{}');
    const asked: string[] = [];
    const { stop } = await site.start({
      volume,
      run: async () => 'x',
      onCancel: async (heard) => void asked.push(heard.task.id),
    });
    await waitFor(() => asked.includes(task.id));
    await stop();
    expect(asked).not.toContain(settled.id);
  });
});

describe('K067: draining', () => {
  it('hands running jobs back at the end of the grace time; three roll-outs cost no attempt', async () => {
    const volume = newVolume();
    const queue = site.queue(volume);
    await queue.add('clone', cloneData(volume), { jobId: 'long', attempts: 1 });
    for (let round = 1; round <= 3; round += 1) {
      let running = false;
      const { stop } = await site.start({
        volume,
        run: async (_data, ctx) => {
          running = true;
          await stopped(ctx);
        },
      });
      await waitFor(() => running);
      await stop();
      const job = await queue.getJob('long');
      expect(await job?.getState()).toBe('waiting');
      expect([job?.attemptsMade, job?.attemptsStarted, job?.stalledCounter]).toEqual([0, round, 0]);
    }
    const { stop } = await site.start({ volume, run: async () => 'the fourth' });
    await waitFor(async () => (await stateOf(queue, 'long')) === 'completed');
    await stop();
  });

  it('lets jobs end that need less than the grace time, takes no new ones, and says that it drains', async () => {
    const volume = newVolume();
    const queue = site.queue(volume);
    let running = false;
    const { stop, health } = await site.start({
      volume,
      concurrency: 1,
      options: { grace: 5000 },
      run: async () => {
        running = true;
        await sleep(700);
        return 'ended';
      },
    });
    await queue.add('clone', cloneData(volume), { jobId: 'first' });
    await queue.add('clone', cloneData(volume), { jobId: 'second' });
    await waitFor(() => running);
    const stopping = stop();
    await sleep(100);
    expect(await health('readyz')).toMatchObject({ status: 503, text: expect.stringContaining('draining') });
    await stopping;
    expect(await stateOf(queue, 'first')).toBe('completed');
    expect(await stateOf(queue, 'second')).toBe('waiting');
  });
});

describe('a job that was on its way from Redis when all were told to let go', () => {
  it('is told too, instead of being taken for cancelled when its engine is closed', async () => {
    const volume = newVolume();
    const queue = site.queue(volume);
    const seen: boolean[] = [];
    const { stop, service } = await site.start({ volume, run: async (_data, ctx) => seen.push(ctx.signal.aborted) });
    const consumer = await waitFor(() => service.consumers[0]);
    consumer.stopJobs('draining');
    await queue.add('clone', cloneData(volume), { jobId: 'late' });
    await waitFor(() => seen.length > 0);
    expect(seen).toEqual([true]);
    await stop();
  });
});

describe('locks', () => {
  it('stops a job whose lock was lost, leaves the verdict to whoever has it, and runs it again', async () => {
    const volume = newVolume();
    const queue = site.queue(volume);
    let runs = 0;
    const reasons: unknown[] = [];
    const { stop } = await site.start({
      volume,
      lockDuration: 1000,
      stalledInterval: 400,
      run: async (_data, ctx) => {
        runs += 1;
        if (runs > 1) return 'second';
        await site.redis.del(`${queue.qualifiedName}:lost:lock`);
        return stopped(ctx).catch((err: unknown) => {
          reasons.push(err);
          throw err;
        });
      },
    });
    await queue.add('clone', cloneData(volume), { jobId: 'lost', attempts: 1 });
    await waitFor(async () => (await stateOf(queue, 'lost')) === 'completed');
    expect(reasons).toHaveLength(1);
    expect((await queue.getJob('lost'))?.returnvalue).toBe('second');
    await stop();
  });
});

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
