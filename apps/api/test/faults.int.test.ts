import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { EVENT_STREAM_MAX, flowId, QUEUE_PREFIX, queueName, REDIS_KEYS } from '@quicksilver/jobs';
import { startRedis, type TestRedis, waitFor } from '@quicksilver/testing';
import { gate, progressOf, TestDataPlane } from './support/data-plane.ts';
import { ApiHome, source } from './support/harness.ts';

let redis: TestRedis;
let home: ApiHome;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());
beforeEach(() => {
  home = new ApiHome(redis);
});
afterEach(async () => {
  await home[Symbol.asyncDispose]();
  await redis.flush();
});

const jobKey = (kind: 'clone' | 'close', id: string) => `${QUEUE_PREFIX}:${queueName(kind, 'main')}:${id}`;
const exists = async (key: string) => (await redis.command('EXISTS', key)) === 1;

describe('Redis away', () => {
  it('K071: a request succeeds meanwhile, readiness says so, and work goes on by itself', async () => {
    await using workers = await TestDataPlane.start(redis);
    const api = await home.start();
    await api.settled((await api.create('before')).task.id);
    await redis.shutdown();
    let away = true;
    try {
      await waitFor(async () => (await api.request('GET', '/readyz')).status === 503);
      const ready = await api.request('GET', '/readyz');
      expect(ready.body).toMatchObject({ status: 'failing', checks: { redis: { ok: false }, database: { ok: true } } });
      expect((await api.request('GET', '/healthz')).status).toBe(200);
      const began = performance.now();
      const posted = await api.create('meanwhile');
      expect(performance.now() - began).toBeLessThan(1000);
      expect(posted).toMatchObject({ outcome: 'created', task: { state: 'wanted' } });
      const dropped = await api.create('dropped');
      expect((await api.request('DELETE', `/v1/tasks/${dropped.task.id}`)).status).toBe(200);
      const queue = await api.request('PUT', '/v1/queues/clone%40main/concurrency', { perWorker: 3 });
      expect(queue.body).toMatchObject({ wanted: { perWorker: 3 }, effective: null });
      await waitFor(async () => (await api.task(posted.task.id)).services === null);
      expect(await api.task(posted.task.id)).toMatchObject({ state: 'wanted' });
      expect((await api.request('GET', '/metrics')).status).toBe(200);
      await redis.start();
      away = false;
      expect(await api.settled(posted.task.id)).toMatchObject({ outcome: 'ready', flow: 1 });
      await waitFor(async () => (await api.request('GET', '/readyz')).status === 200);
      await waitFor(async () => (await redis.command('HGET', REDIS_KEYS.concurrency, 'clone@main')) === '3');
      expect(workers.cloned).toHaveLength(2);
    } finally {
      if (away) await redis.start();
    }
  });

  it('starts without Redis, and hears progress once it is there', async () => {
    await redis.shutdown();
    const api = await home.start();
    const { task } = await api.create('early');
    expect((await api.request('GET', '/readyz')).status).toBe(503);
    await redis.start();
    const hold = gate();
    await using _workers = await TestDataPlane.start(redis, {
      clone: async (data, job) => {
        await job.updateProgress(progressOf(data, 42));
        await hold.opened;
      },
    });
    await waitFor(async () => (await api.task(task.id)).progress?.files.done === 42);
    hold.open();
    expect(await api.settled(task.id)).toMatchObject({ outcome: 'ready', progress: { files: { done: 42 } } });
  });

  it('stops at once while Redis is away', async () => {
    const api = await home.start();
    await redis.shutdown();
    try {
      const began = performance.now();
      await api.close();
      expect(performance.now() - began).toBeLessThan(3000);
    } finally {
      await redis.start();
    }
  });

  it('K073: a server that may evict jobs is not used, and readiness gives the reason', async () => {
    await using evicting = await startRedis({ policy: 'allkeys-lru' });
    await using own = new ApiHome(evicting);
    const api = await own.start();
    const { task } = await api.create('unsafe');
    const ready = await api.request('GET', '/readyz');
    expect(ready.status).toBe(503);
    expect(JSON.stringify(ready.body)).toContain('allkeys-lru');
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await api.task(task.id)).toMatchObject({ state: 'wanted' });
    await evicting.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
  });
});

describe('what Redis loses', () => {
  it('K088: tasks under way when Redis came back empty are admitted again under new ids, and end once', async () => {
    const api = await home.start();
    const ids: string[] = [];
    for (const name of ['w1', 'w2', 'w3']) ids.push((await api.create(name)).task.id);
    for (const id of ids) await waitFor(() => exists(jobKey('close', flowId(id, 1))));
    await redis.flush();
    await using workers = await TestDataPlane.start(redis);
    for (const id of ids) {
      const task = await api.settled(id);
      expect(task).toMatchObject({ outcome: 'ready', flow: 2, generation: 1 });
      expect(task.history.map(({ type }) => type)).toEqual(['created', 'admitted', 'flow-lost', 'settled']);
      expect(task.history[2]?.detail).toEqual({ flow: 1, why: 'missing' });
    }
    expect(workers.cloned.map(({ task }) => task.flow)).toEqual([2, 2, 2]);
    expect(workers.cloned).toHaveLength(3);
  });

  it('gives queue settings and stream bounds back to a Redis that was wiped', async () => {
    const api = await home.start();
    const queue = queueName('clone', 'main');
    await api.request('PUT', `/v1/queues/${encodeURIComponent(queue)}/concurrency`, { perWorker: 7, global: 9 });
    await redis.flush();
    await waitFor(async () => (await redis.command('HGET', REDIS_KEYS.concurrency, queue)) === '7');
    const meta = `${QUEUE_PREFIX}:${queue}:meta`;
    await waitFor(async () => (await redis.command('HGET', meta, 'concurrency')) === '9');
    await waitFor(async () => (await redis.command('HGET', meta, 'opts.maxLenEvents')) === String(EVENT_STREAM_MAX));
  });

  it('gives a task a new flow when its close job has failed for good', async () => {
    await using workers = await TestDataPlane.start(redis, {
      close: async ({ task }, job) => {
        if (task.flow > 1) return {};
        job.opts.attempts = 1;
        throw new Error('the volume was away');
      },
    });
    const api = await home.start();
    const { task } = await api.create('unlucky');
    const settled = await api.settled(task.id);
    expect(settled).toMatchObject({ outcome: 'ready', flow: 2 });
    expect(settled.history.find(({ type }) => type === 'flow-lost')?.detail).toMatchObject({ flow: 1, why: 'failed' });
    // Failed jobs are never retried or removed.
    expect(await exists(jobKey('close', flowId(task.id, 1)))).toBe(true);
    expect(workers.closed.map(({ task: { flow } }) => flow)).toEqual([1, 2]);
  });

  it('gives a task a new flow when its clone job vanished and its close job would wait for ever', async () => {
    const api = await home.start();
    const { task } = await api.create('half');
    await waitFor(() => exists(jobKey('clone', flowId(task.id, 1))));
    // Cut out without BullMQ: only what an evicting or damaged server would do.
    await redis.command(
      'DEL',
      jobKey('clone', flowId(task.id, 1)),
      `${QUEUE_PREFIX}:${queueName('clone', 'main')}:wait`,
    );
    await using _workers = await TestDataPlane.start(redis);
    expect(await api.settled(task.id)).toMatchObject({ outcome: 'ready', flow: 2 });
  });
});

describe('what the API loses', () => {
  it('goes on after a restart in the middle, without a second flow', async () => {
    const hold = gate();
    await using workers = await TestDataPlane.start(redis, { clone: () => hold.opened });
    const before = await home.start();
    const running = await before.create('mid');
    await waitFor(() => workers.cloned.length === 1);
    await before.close();
    const after = await home.start();
    // Longer than the time after which a flow that is lost would be replaced.
    await new Promise((resolve) => setTimeout(resolve, 500));
    hold.open();
    expect(await after.settled(running.task.id)).toMatchObject({ outcome: 'ready', flow: 1 });
    expect(workers.cloned).toHaveLength(1);
  });

  it('finds an outcome that came while it was down: by its key, or by what close returned', async () => {
    for (const announce of [true, false]) {
      const hold = gate();
      await using workers = await TestDataPlane.start(redis, { announce, clone: () => hold.opened });
      const before = await home.start();
      const { task } = await before.create(`down-${announce}`);
      await before.until(task.id, 'admitted');
      await waitFor(() => workers.cloned.length === 1);
      await before.close();
      hold.open();
      await waitFor(() => workers.lane.has(task.id));
      const after = await home.start();
      expect(await after.settled(task.id)).toMatchObject({ outcome: 'ready', flow: 1 });
      await after.close();
    }
  });

  it('admits after a restart what was only wanted', async () => {
    const before = await home.start({ QUICKSILVER_VOLUMES: 'main=/nowhere', QUICKSILVER_SLOTS: '1' });
    const first = await before.create('f1');
    const second = await before.create('f2');
    await before.until(first.task.id, 'admitted');
    await before.close();
    await using _workers = await TestDataPlane.start(redis);
    const after = await home.start();
    expect(await after.settled(second.task.id)).toMatchObject({ outcome: 'ready' });
  });

  it('settles once, however often and in whatever form an outcome comes', async () => {
    await using workers = await TestDataPlane.start(redis);
    const api = await home.start();
    const { task } = await api.create('once');
    await api.settled(task.id);
    const recorded = workers.lane.get(task.id);
    if (!recorded) throw new Error('no outcome');
    await workers.announce(recorded);
    await workers.announce({ ...recorded, state: 'failed', generation: 9 });
    await redis.command('PUBLISH', REDIS_KEYS.outcomeChannel, 'not json');
    await redis.command('PUBLISH', REDIS_KEYS.outcomeChannel, JSON.stringify({ v: 2, taskId: task.id }));
    await redis.command('PUBLISH', REDIS_KEYS.outcomeChannel, JSON.stringify({ v: 1, taskId: task.id, state: 'gone' }));
    // Of a task that nobody knows.
    await workers.announce({ ...recorded, taskId: '00000000-0000-4000-8000-000000000000' });
    const next = await api.create('after');
    await api.settled(next.task.id);
    expect(await api.task(task.id)).toMatchObject({ outcome: 'ready', generation: 1 });
    expect((await api.task(task.id)).history.filter(({ type }) => type === 'settled')).toHaveLength(1);
    expect(await api.mirror('once')).toMatchObject({ state: 'ready', generation: 1 });
  });
});

describe('what stays in Redis', () => {
  it('K075: event streams are bounded whatever the number of progress updates', async () => {
    await using _workers = await TestDataPlane.start(redis, {
      clone: async (data, job) => {
        for (let done = 0; done < EVENT_STREAM_MAX * 3; done += 100) {
          await Promise.all(Array.from({ length: 100 }, () => job.updateProgress(progressOf(data, 1))));
        }
      },
    });
    const api = await home.start();
    await api.settled((await api.create('chatty', source('c'))).task.id, 30_000);
    const length = await redis.command('XLEN', `${QUEUE_PREFIX}:${queueName('clone', 'main')}:events`);
    // Trimming is by whole nodes of the stream.
    expect(Number(length)).toBeLessThanOrEqual(EVENT_STREAM_MAX + 200);
  });
});
