import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { CloneResult, Problem, REDIS_KEYS, ServiceHeartbeat } from '@quicksilver/jobs';
import { waitFor } from '@quicksilver/testing';
import { childProcesses, processExists, Site } from './support/site.ts';

let site: Site;
beforeEach(async () => {
  site = await Site.start();
});
afterEach(async () => await site[Symbol.asyncDispose]());

const problemOf = async (jobId: string) => Problem.parse(JSON.parse((await site.job(jobId)).failedReason));

describe('writer', () => {
  it('returns what the engine has written, with progress on the way', async () => {
    await site.writer();
    const { jobId, data } = await site.add('/sleep/200');
    await waitFor(async () => (await site.state(jobId)) === 'completed');
    const job = await site.job(jobId);
    expect(CloneResult.parse(job.returnvalue)).toMatchObject({ v: 1, fence: 3, staging: `${data.task.id}.3` });
    await waitFor(async () => (await site.job(jobId)).progress !== 0);
  });

  it("passes the request's settings on before its own, and where local sources may lie", async () => {
    await site.writer({
      QUICKSILVER_WRITERS: '3',
      QUICKSILVER_MEMORY_TARGET: '1000000',
      QUICKSILVER_BACKGROUND_CLOSE: 'on',
      QUICKSILVER_BACKGROUND_CLOSE_MIN_FILE_COUNT: '0',
      QUICKSILVER_BACKGROUND_CLOSE_MAX_QUEUE: '100',
      QUICKSILVER_BACKGROUND_CLOSE_THREAD_COUNT: '8',
      QUICKSILVER_SOURCE_ROOTS: '/a:/b',
      QUICKSILVER_FILE_MODE: '640',
      QUICKSILVER_OWNER: '33:34',
      QUICKSILVER_LOCK_DURATION: '9000',
    });
    const { jobId } = await site.add('/ok', { settings: { writers: 1, backgroundCloseThreadCount: 2 } });
    await waitFor(async () => (await site.state(jobId)) === 'completed');
    const { write } = CloneResult.parse((await site.job(jobId)).returnvalue);
    expect(write.work).toMatchObject({
      volume: site.dir.path,
      sourceRoots: ['/a', '/b'],
      lockDuration: 9000,
      settings: {
        writers: 1,
        memoryTarget: 1_000_000,
        backgroundClose: 'on',
        backgroundCloseMinFileCount: 0,
        backgroundCloseMaxQueue: 100,
        backgroundCloseThreadCount: 2,
      },
      access: { fileMode: 0o640, owner: { uid: 33, gid: 34 } },
    });
  });

  it('K083: a lost engine is told as worker lost within seconds, and tried again', async () => {
    await site.writer();
    const { jobId } = await site.add('/exit/137', { attempts: 2 });
    await waitFor(async () => (await site.state(jobId)) === 'failed', { deadline: 5000 });
    expect((await site.job(jobId)).attemptsMade).toBe(2);
    expect(await problemOf(jobId)).toMatchObject({ code: 'HG_WORKER_LOST', class: 'memory', stage: 'write' });
    expect(new Set(site.engines).size).toBe(2);
    const next = await site.add('/ok');
    await waitFor(async () => (await site.state(next.jobId)) === 'completed');
  });

  it.each([
    ['HG_CORRUPT', 'format', 1],
    ['HG_NO_SPACE', 'storage', 1],
    ['HG_POLICY', 'policy', 1],
    ['HG_IO', 'storage', 3],
    ['HG_MEMORY', 'memory', 3],
  ])('K119, K043: %s is told as %s, with its advice, after %i attempt(s)', async (code, faultClass, attempts) => {
    await site.writer();
    const { jobId } = await site.add(`/fail/${code}`, { attempts: 3 });
    await waitFor(async () => (await site.state(jobId)) === 'failed');
    expect((await site.job(jobId)).attemptsMade).toBe(attempts);
    const problem = await problemOf(jobId);
    expect(problem).toMatchObject({ code, class: faultClass, stage: 'write', where: { file: 'data/a.i' } });
    expect(problem.advice).not.toBe('');
  });

  it('never passes on a result that it does not understand', async () => {
    await site.writer();
    const { jobId } = await site.add('/junk', { attempts: 1 });
    await waitFor(async () => (await site.state(jobId)) === 'failed');
    expect(await problemOf(jobId)).toMatchObject({ code: 'HG_INTERNAL' });
  });

  it.each(['/sleep/60000', '/busy/60000'])('K090: a cancel ends %s within two seconds, for good', async (what) => {
    await site.writer();
    const { jobId, data } = await site.add(what);
    await waitFor(() => site.engines.length === 1);
    const began = Date.now();
    const { task, mirror, volume } = data;
    const signal = JSON.stringify({ v: 1, task, mirror, volume });
    await site.redis.set(REDIS_KEYS.cancel(task.id), signal);
    await site.redis.publish(REDIS_KEYS.cancelChannel, signal);
    await waitFor(async () => (await site.state(jobId)) === 'failed');
    expect(Date.now() - began).toBeLessThan(2000);
    expect((await site.job(jobId)).attemptsMade).toBe(1);
    expect(await problemOf(jobId)).toMatchObject({ code: 'HG_CANCELLED', retryable: false });
  });

  it('K065: an engine at full load never costs a lock, and the delay of the loop is told', async () => {
    await site.writer({ QUICKSILVER_LOCK_DURATION: '1000', QUICKSILVER_STALLED_INTERVAL: '300' });
    const { jobId } = await site.add('/busy/4000');
    const beat = await waitFor(async () => {
      const [key] = await site.redis.keys(REDIS_KEYS.heartbeatPattern('clone', 'main'));
      const parsed = ServiceHeartbeat.parse(JSON.parse((await site.redis.get(key ?? '')) ?? 'null'));
      return parsed.active === 1 && parsed;
    });
    await waitFor(async () => (await site.state(jobId)) === 'completed');
    const job = await site.job(jobId);
    expect([job.attemptsStarted, job.stalledCounter, site.engines.length]).toEqual([1, 0, 1]);
    expect(beat.loopDelay.max).toBeLessThan(1000);
    expect(site.lines.filter(({ msg }) => msg === 'job locks lost')).toEqual([]);
  });

  it('has an engine running before the first job comes, and gives it that job', async () => {
    await site.writer();
    await waitFor(() => site.lines.some(({ msg }) => msg === 'taking jobs'));
    const running = childProcesses();
    await site.add('/ok');
    const [engine] = await waitFor(() => site.engines.length > 0 && site.engines);
    expect(running).toContain(engine);
  });

  it('K083: reuses one engine for many jobs, and leaves none behind', async () => {
    const app = await site.writer({ QUICKSILVER_CONCURRENCY: '1' });
    const jobs = await Promise.all(Array.from({ length: 30 }, () => site.add('/ok')));
    await waitFor(async () => (await site.queue.getCompletedCount()) === jobs.length);
    const pids = new Set(site.engines);
    expect(pids.size).toBe(1);
    await app.close();
    expect([...pids].filter(processExists)).toEqual([]);
  });
});
