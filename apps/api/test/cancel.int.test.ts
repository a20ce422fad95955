import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { flowId, QUEUE_PREFIX, queueName, REDIS_KEYS } from '@quicksilver/jobs';
import { startRedis, type TestRedis, waitFor } from '@quicksilver/testing';
import { gate, TestDataPlane } from './support/data-plane.ts';
import { ApiHome, type RunningApi } from './support/harness.ts';

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

const cancel = (api: RunningApi, id: string) => api.request('DELETE', `/v1/tasks/${id}`);

describe('K090: cancelling a task', () => {
  it('settles a wanted task at once, without any worker, and never admits it', async () => {
    const hold = gate();
    await using workers = await TestDataPlane.start(redis, { clone: () => hold.opened });
    const api = await home.start({ QUICKSILVER_SLOTS: '1' });
    const first = await api.create('c1');
    const second = await api.create('c2');
    await api.until(first.task.id, 'admitted');
    for (let times = 0; times < 2; times += 1) {
      expect(await cancel(api, second.task.id)).toMatchObject({
        status: 200,
        body: { state: 'settled', outcome: 'cancelled', problem: { code: 'HG_CANCELLED' } },
      });
    }
    expect(await api.mirror('c2')).toMatchObject({ state: 'failed', problem: { code: 'HG_CANCELLED' } });
    hold.open();
    await api.settled(first.task.id);
    await api.settled((await api.create('c3')).task.id);
    expect(workers.cloned.map(({ mirror }) => mirror.name)).toEqual(['c1', 'c3']);
    expect((await api.task(second.task.id)).history.map(({ type }) => type)).toEqual(['created', 'settled']);
  });

  it('flags and signals an admitted task, which is settled without waiting for its job', async () => {
    const hold = gate();
    await using workers = await TestDataPlane.start(redis, { clone: () => hold.opened });
    const api = await home.start();
    const { task } = await api.create('running');
    await waitFor(() => workers.cloned.length === 1);
    const began = performance.now();
    const answer = await cancel(api, task.id);
    expect([200, 202]).toContain(answer.status);
    expect(await api.settled(task.id)).toMatchObject({ outcome: 'cancelled' });
    expect(performance.now() - began).toBeLessThan(2000);
    expect(await redis.command('EXISTS', REDIS_KEYS.cancel(task.id))).toBe(1);
    expect(workers.signals[0]).toMatchObject({ v: 1, task: { id: task.id, number: 1, flow: 1 }, volume: 'main' });
    // What the late job says changes nothing.
    hold.open();
    await waitFor(() => workers.closed.length === 1);
    await api.settled((await api.create('next')).task.id);
    expect(await api.task(task.id)).toMatchObject({ outcome: 'cancelled', generation: null });
  });

  it('shows cancelling while no closer is there, says so, and signals until one is back', async () => {
    const api = await home.start();
    const { task } = await api.create('alone');
    await waitFor(async () => (await redis.command('EXISTS', jobOf(task.id))) === 1);
    expect(await cancel(api, task.id)).toMatchObject({ status: 202, body: { state: 'cancelling', outcome: null } });
    expect(await cancel(api, task.id)).toMatchObject({ status: 202, body: { state: 'cancelling' } });
    const shown = await api.task(task.id);
    expect(shown.services).toEqual({ writer: { alive: false, instances: 0 }, closer: { alive: false, instances: 0 } });
    expect(shown.history.filter(({ type }) => type === 'cancel-requested')).toHaveLength(1);
    // Also the flag is gone with a Redis that is wiped.
    await redis.flush();
    await waitFor(async () => (await redis.command('EXISTS', REDIS_KEYS.cancel(task.id))) === 1);
    await using workers = await TestDataPlane.start(redis);
    await workers.heartbeat('close', 'c1');
    expect(await api.settled(task.id)).toMatchObject({ outcome: 'cancelled' });
  });

  it('cancels a task that is wanted again after Redis is back, when it was away at the time', async () => {
    const hold = gate();
    await using workers = await TestDataPlane.start(redis, { clone: () => hold.opened });
    const api = await home.start();
    const { task } = await api.create('deaf');
    await waitFor(() => workers.cloned.length === 1);
    await redis.freeze(true);
    const answer = cancel(api, task.id);
    await waitFor(async () => (await api.task(task.id)).state === 'cancelling', { deadline: 15_000 });
    await redis.freeze(false);
    expect((await answer).status).toBe(202);
    expect(await api.settled(task.id)).toMatchObject({ outcome: 'cancelled' });
    hold.open();
  });

  it('leaves a settled task as it is', async () => {
    await using _workers = await TestDataPlane.start(redis);
    const api = await home.start();
    const { task } = await api.create('done');
    await api.settled(task.id);
    expect(await cancel(api, task.id)).toMatchObject({ status: 200, body: { state: 'settled', outcome: 'ready' } });
  });

  it('tells the truth when the work was done before the signal came', async () => {
    const hold = gate();
    await using workers = await TestDataPlane.start(redis, { cancel: false, clone: () => hold.opened });
    const api = await home.start();
    const { task } = await api.create('late');
    await waitFor(() => workers.cloned.length === 1);
    expect(await cancel(api, task.id)).toMatchObject({ status: 202, body: { state: 'cancelling' } });
    hold.open();
    expect(await api.settled(task.id)).toMatchObject({ outcome: 'ready', generation: 1 });
  });
});

function jobOf(taskId: string): string {
  return `${QUEUE_PREFIX}:${queueName('close', 'main')}:${flowId(taskId, 1)}`;
}
