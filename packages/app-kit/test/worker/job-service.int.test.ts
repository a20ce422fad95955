import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { HgError } from '@quicksilver/hg-types';
import { Problem, REDIS_KEYS } from '@quicksilver/jobs';
import { startRedis, type TestRedis } from '@quicksilver/testing';
import type { JobContext } from '../../src/worker/job-handler.ts';
import { waitFor } from '../wait.ts';
import { cloneData, MIRROR, pathOf, Site, untilAborted } from './site.ts';

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
        if (pathOf(data) === '/full') throw new HgError('HG_NO_SPACE', 'no room', { wanted: 2, free: 1 });
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
