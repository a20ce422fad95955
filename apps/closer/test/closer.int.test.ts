import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { encodeProblem, problemOf } from '@quicksilver/app-kit';
import { HgError } from '@quicksilver/hg-types';
import { REDIS_KEYS, TaskOutcome } from '@quicksilver/jobs';
import { waitFor } from '@quicksilver/testing';
import { childProcesses, failFor, Site, written } from './support/site.ts';

let site: Site;
beforeEach(async () => {
  site = await Site.start();
});
afterEach(async () => await site[Symbol.asyncDispose]());

const settled = (jobId: string) => waitFor(async () => (await site.state(jobId)) === 'completed');

describe('settling', () => {
  it('publishes what was written, and tells the outcome three ways: kept, published, returned', async () => {
    site.writer(written);
    await site.closer();
    const { id, jobId } = await site.add('ok');
    await settled(jobId);
    const outcome = TaskOutcome.parse((await site.job(jobId)).returnvalue);
    expect(outcome).toEqual({
      v: 1,
      taskId: id,
      state: 'ready',
      generation: 1,
      path: `${site.dir.path}/mirrors/x`,
      receipt: { fence: 2 },
    });
    expect(await site.outcome(id)).toEqual(outcome);
    await waitFor(() => site.published(id).length > 0);
    expect(site.published(id)).toEqual([outcome]);
    expect(await site.redis.ttl(REDIS_KEYS.outcome(id))).toBeGreaterThan(80_000);
  });

  it('has an engine running before the first job comes, and gives it that job', async () => {
    await site.closer();
    await waitFor(() => site.lines.some(({ msg }) => msg === 'taking jobs'));
    const running = childProcesses();
    const task = await site.add('ok', 'retire');
    const [call] = await waitFor(() => site.calls('close', task.id).length > 0 && site.calls('close', task.id));
    expect(running).toContain(call?.pid);
  });

  it('K119: settles a task whose writing failed, with the stage and advice that the writer gave', async () => {
    const problem = problemOf(new HgError('HG_NO_SPACE', 'no room', { wanted: 9, free: 1 }), 'plan');
    site.writer(() => failFor(encodeProblem(problem)));
    await site.closer();
    const { id, jobId } = await site.add('ok');
    await settled(jobId);
    expect(await site.outcome(id)).toEqual({ v: 1, taskId: id, state: 'failed', problem });
  });

  it('K077: settles a task whose writing ended in words that are not ours', async () => {
    site.writer(() => failFor('job stalled more than allowable limit'));
    await site.closer();
    const { id, jobId } = await site.add('ok');
    await settled(jobId);
    expect(await site.outcome(id)).toMatchObject({
      state: 'failed',
      problem: { code: 'HG_WORKER_LOST', class: 'memory', stage: 'write' },
    });
  });

  it('never publishes a child without a result that it understands', async () => {
    site.writer(() => ({ v: 1, fence: 'two' }));
    await site.closer();
    const { id, jobId } = await site.add('ok');
    await settled(jobId);
    expect(site.calls('close', id)[0]).not.toHaveProperty('written');
    expect(await site.outcome(id)).toMatchObject({ state: 'failed', problem: { code: 'HG_INTERNAL' } });
  });

  it('retires a mirror without looking for a child', async () => {
    await site.closer();
    const { id, jobId } = await site.add('ok', 'retire');
    await settled(jobId);
    expect(site.calls('close', id)).toEqual([expect.objectContaining({ action: 'retire', cancelled: false })]);
    expect(await site.outcome(id)).toEqual({ v: 1, taskId: id, state: 'ready' });
  });

  it('tells the outcome as soon as it is recorded, before old files are removed', async () => {
    site.writer(written);
    await site.closer();
    const { id, jobId } = await site.add('slow-trash');
    await waitFor(() => site.published(id).length > 0);
    expect(await site.state(jobId)).toBe('active');
    expect(await site.outcome(id)).toMatchObject({ state: 'ready' });
    await settled(jobId);
    expect(site.published(id)).toHaveLength(1);
  });

  it('tries again what is no verdict about the task', async () => {
    site.writer(written);
    await site.closer();
    const { id, jobId } = await site.add('retry-once');
    await settled(jobId);
    expect(site.calls('close', id)).toHaveLength(2);
    expect(await site.outcome(id)).toMatchObject({ state: 'ready' });
  });

  it('leaves a task unsettled, and its job failed, when the volume cannot be written at all', async () => {
    site.writer(written);
    await site.closer();
    const { id, jobId } = await site.add('fail');
    await waitFor(async () => (await site.state(jobId)) === 'failed');
    expect(await site.outcome(id)).toBeUndefined();
    expect(JSON.parse((await site.job(jobId)).failedReason)).toMatchObject({ code: 'HG_READ_ONLY', stage: 'prove' });
  });

  it('ends in the one recorded outcome when it runs twice', async () => {
    site.writer(written);
    const short = { QUICKSILVER_LOCK_DURATION: '700', QUICKSILVER_STALLED_INTERVAL: '200' };
    await Promise.all([site.closer(short), site.closer(short)]);
    const { id, jobId } = await site.add('sleep-900');
    await waitFor(() => site.calls('close', id).length === 1);
    await site.redis.del(`${site.queue.qualifiedName}:${jobId}:lock`);
    await settled(jobId);
    expect(site.calls('close', id).length).toBeGreaterThan(1);
    const outcomes = site.published(id);
    expect(outcomes.length).toBeGreaterThan(0);
    for (const outcome of outcomes) expect(outcome).toEqual(await site.outcome(id));
  });
});

describe('K090: cancel', () => {
  it('settles a task that waits for a writer, at once and outside the queue', async () => {
    await site.closer();
    const task = await site.add('ok');
    const began = Date.now();
    await site.cancel(task);
    await waitFor(async () => (await site.outcome(task.id)) !== undefined);
    expect(Date.now() - began).toBeLessThan(2000);
    expect(await site.outcome(task.id)).toMatchObject({ state: 'cancelled', problem: { code: 'HG_CANCELLED' } });
    expect(await site.state(task.jobId)).toBe('waiting-children');
    // The flow comes later and ends in what is recorded.
    site.writer(written);
    await settled(task.jobId);
    expect((await site.job(task.jobId)).returnvalue).toMatchObject({ state: 'cancelled' });
    expect(site.calls('close', task.id)[0]).toMatchObject({ cancelled: true });
  });

  it.each(['sleep-60000', 'busy-60000'])(
    'stops a close that runs (%s) and settles the task in two seconds',
    async (what) => {
      site.writer(written);
      await site.closer();
      const task = await site.add(what);
      await waitFor(() => site.calls('close', task.id).length === 1);
      const began = Date.now();
      await site.cancel(task);
      await waitFor(async () => (await site.outcome(task.id)) !== undefined);
      expect(Date.now() - began).toBeLessThan(2000);
      await settled(task.jobId);
      expect((await site.job(task.jobId)).returnvalue).toMatchObject({ state: 'cancelled' });
      expect((await site.job(task.jobId)).attemptsMade).toBe(1);
    },
  );

  it('does not wait for slots that are all taken by other tasks', async () => {
    site.writer(written);
    await site.closer({ QUICKSILVER_CONCURRENCY: '1' });
    const busy = await site.add('busy-2500');
    await waitFor(() => site.calls('close', busy.id).length === 1);
    const task = await site.add('ok');
    await waitFor(async () => (await site.state(task.jobId)) === 'waiting');
    const began = Date.now();
    await site.cancel(task);
    await waitFor(async () => (await site.outcome(task.id)) !== undefined);
    expect(Date.now() - began).toBeLessThan(2000);
    await settled(busy.jobId);
    await settled(task.jobId);
    expect((await site.job(busy.jobId)).returnvalue).toMatchObject({ state: 'ready' });
    expect((await site.job(task.jobId)).returnvalue).toMatchObject({ state: 'cancelled' });
  });

  it('of many tasks at once does not wait for the removal of what each has written', async () => {
    await site.closer();
    const tasks = await Promise.all(Array.from({ length: 6 }, () => site.add('ok')));
    const began = Date.now();
    await Promise.all(tasks.map((task) => site.cancel(task)));
    await waitFor(async () => (await Promise.all(tasks.map(({ id }) => site.outcome(id)))).every(Boolean));
    expect(Date.now() - began).toBeLessThan(2000);
    // What they left is swept up apart, once more after the last of them.
    await waitFor(() => site.calls('sweep').length > 1);
    const last = Math.max(...site.calls('cancel').map(({ at }) => Number(at)));
    expect(Math.max(...site.calls('sweep').map(({ at }) => Number(at)))).toBeGreaterThan(last);
  });

  it('changes nothing about a task that is ready already, however often it is asked for', async () => {
    site.writer(written);
    await site.closer();
    const task = await site.add('ok');
    await settled(task.jobId);
    for (let n = 1; n <= 2; n += 1) {
      await site.cancel(task);
      // A signal that comes while the one before is being settled is not another wish.
      await waitFor(() => site.lines.filter(({ msg }) => msg === 'cancel settled').length === n);
    }
    expect(site.calls('cancel', task.id)).toHaveLength(2);
    await waitFor(() => site.published(task.id).length === 3);
    for (const outcome of site.published(task.id)) expect(outcome).toMatchObject({ state: 'ready' });
  });

  it('settles cancels that were asked for while no closer was there', async () => {
    const task = await site.add('ok');
    await site.cancel(task);
    await site.closer();
    await waitFor(async () => (await site.outcome(task.id)) !== undefined);
    expect(await site.outcome(task.id)).toMatchObject({ state: 'cancelled' });
  });
});

describe('a closer that is busy, stopped or gone', () => {
  it('hands a running close back when it stops, and another one ends it', async () => {
    site.writer(written);
    const first = await site.closer();
    const { id, jobId } = await site.add('sleep-1500');
    await waitFor(() => site.calls('close', id).length === 1);
    await first.close();
    expect(await site.state(jobId)).toBe('waiting');
    expect((await site.job(jobId)).attemptsMade).toBe(0);
    await site.closer();
    await settled(jobId);
    expect(await site.outcome(id)).toMatchObject({ state: 'ready' });
  });

  it('K116: a task that cannot be closed fails alone; the others go on', async () => {
    site.writer(written);
    await site.closer({ QUICKSILVER_CONCURRENCY: '1' });
    const bad = await site.add('fail');
    const good = await Promise.all(Array.from({ length: 5 }, () => site.add('ok')));
    for (const { jobId } of good) await settled(jobId);
    await waitFor(async () => (await site.state(bad.jobId)) === 'failed');
  });

  it('sweeps the volume at its interval, one round at a time', async () => {
    await site.closer({ QUICKSILVER_JANITOR_INTERVAL: '100', QUICKSILVER_TRASH_GRACE: '5000' });
    await waitFor(() => site.calls('janitor-end').length >= 3);
    const begins = site.calls('janitor');
    const ends = site.calls('janitor-end');
    expect(begins[0]).toMatchObject({ graceMs: 5000 });
    for (const [n, end] of ends.entries()) {
      const next = begins[n + 1];
      if (next) expect(Number(next.at)).toBeGreaterThanOrEqual(Number(end.at));
    }
  });
});
