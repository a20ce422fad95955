import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { EngineSlots, type EngineSlotsOptions } from '../../src/engine/engine-slots.ts';
import { LoopMonitor } from '../../src/health/loop-monitor.ts';
import { memoryLogger } from '../memory-logger.ts';
import { processExists, waitFor } from '../wait.ts';

const entry = new URL('./fake-engine.ts', import.meta.url);
const never = new AbortController().signal;
const open: EngineSlots[] = [];

function slots(options: Partial<EngineSlotsOptions> = {}) {
  const { logger, lines } = memoryLogger();
  const made = new EngineSlots({ entry, size: 1, logger, env: process.env, ...options });
  open.push(made);
  return { slots: made, lines };
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

const codeOf = async (work: Promise<unknown>) =>
  work.then(
    () => 'no error',
    (err: { code?: string }) => err.code,
  );

describe('EngineSlots', () => {
  it('starts no process before the first request and keeps it warm for the next', async () => {
    const { slots: pool } = slots();
    expect(pool.pids).toEqual([]);
    const bytes = new Uint8Array([1, 2, 3]);
    const first = await pool.run({ method: 'echo', params: { bytes, map: new Map([['a', 1]]) } }, { signal: never });
    const second = await pool.run({ method: 'echo', params: 2 }, { signal: never });
    expect(first).toMatchObject({ params: { bytes, map: new Map([['a', 1]]) } });
    expect(second).toMatchObject({ pid: (first as { pid: number }).pid });
  });

  it('hands on the fault of an engine with its code and facts', async () => {
    const { slots: pool } = slots();
    const failed = pool.run({ method: 'fail', params: 0 }, { signal: never });
    await expect(failed).rejects.toMatchObject({ code: 'HG_CORRUPT', where: { file: 'a', offset: 7 } });
    await expect(pool.run({ method: 'nothing', params: 0 }, { signal: never })).rejects.toMatchObject({
      code: 'HG_INTERNAL',
    });
  });

  it.each([
    ['a kill for memory', 'killSelf'],
    ['an exit', 'exit'],
    ['an abort of the process', 'abortProcess'],
  ])('K083: %s is reported as worker lost at once, and the next request gets a new engine', async (_, method) => {
    const { slots: pool } = slots();
    await pool.run({ method: 'echo', params: 0 }, { signal: never });
    const began = Date.now();
    const lost = pool.run({ method, params: 3 }, { signal: never });
    await expect(lost).rejects.toMatchObject({
      code: 'HG_WORKER_LOST',
      message: expect.stringContaining('worker lost'),
      retryable: true,
    });
    expect(Date.now() - began).toBeLessThan(3000);
    expect(await pool.run({ method: 'echo', params: 1 }, { signal: never })).toMatchObject({ params: 1 });
  });

  it('reports an error that nobody awaited in the engine, and replaces the engine', async () => {
    const { slots: pool, lines } = slots();
    const { pid } = (await pool.run({ method: 'echo', params: 0 }, { signal: never })) as { pid: number };
    expect(await codeOf(pool.run({ method: 'stray', params: 0 }, { signal: never }))).toBe('HG_IO');
    await waitFor(() => !processExists(pid));
    expect(await pool.run({ method: 'echo', params: 1 }, { signal: never })).not.toMatchObject({ pid });
    expect(lines.some(({ output }) => String(output).includes('uncaught'))).toBe(true);
  });

  it('K083: does not blame a request for an engine that was killed while idle', async () => {
    const { slots: pool } = slots();
    const { pid } = (await pool.run({ method: 'echo', params: 0 }, { signal: never })) as { pid: number };
    process.kill(pid, 'SIGKILL');
    expect(await pool.run({ method: 'echo', params: 1 }, { signal: never })).toMatchObject({ params: 1 });
  });

  it('K083: replaces an engine after a set number of requests', async () => {
    const { slots: pool } = slots({ maxJobsPerChild: 2 });
    const pids = new Set<number>();
    for (let n = 0; n < 5; n += 1) {
      pids.add(((await pool.run({ method: 'echo', params: n }, { signal: never })) as { pid: number }).pid);
    }
    expect(pids.size).toBe(3);
    const [first = 0] = pids;
    await waitFor(() => !processExists(first));
  });

  it('K083: replaces an engine that has grown', async () => {
    const { slots: pool } = slots({ maxRssMb: 200 });
    const before = await pool.run({ method: 'grow', params: 1 }, { signal: never });
    expect(await pool.run({ method: 'grow', params: 200 }, { signal: never })).toBe(before);
    expect(await pool.run({ method: 'grow', params: 1 }, { signal: never })).not.toBe(before);
  });

  it('stops a request that heeds its abort, and keeps the engine', async () => {
    const { slots: pool } = slots();
    const { pid } = (await pool.run({ method: 'echo', params: 0 }, { signal: never })) as { pid: number };
    const abort = new AbortController();
    const running = codeOf(pool.run({ method: 'sleep', params: 60_000 }, { signal: abort.signal }));
    setTimeout(() => abort.abort(), 50);
    expect(await running).toBe('HG_CANCELLED');
    expect(await pool.run({ method: 'echo', params: 1 }, { signal: never })).toMatchObject({ pid });
  });

  it('K090: kills an engine that does not heed its abort within a second', async () => {
    const { slots: pool } = slots();
    const { pid } = (await pool.run({ method: 'echo', params: 0 }, { signal: never })) as { pid: number };
    const abort = new AbortController();
    const began = Date.now();
    const running = codeOf(pool.run({ method: 'busy', params: 20_000 }, { signal: abort.signal }));
    setTimeout(() => abort.abort(), 50);
    expect(await running).toBe('HG_CANCELLED');
    expect(Date.now() - began).toBeLessThan(2000);
    expect(processExists(pid)).toBe(false);
  });

  it('returns the result of a request that was past the point of stopping', async () => {
    const { slots: pool } = slots();
    const abort = new AbortController();
    const running = pool.run({ method: 'finishAnyway', params: 400 }, { signal: abort.signal });
    setTimeout(() => abort.abort(), 200);
    expect(await running).toBe('finished');
  });

  it('kills an engine that is frozen and reports it as lost', async () => {
    const { slots: pool } = slots({ maxSilenceMs: 1500 });
    const { pid } = (await pool.run({ method: 'echo', params: 0 }, { signal: never })) as { pid: number };
    const running = pool.run({ method: 'sleep', params: 60_000 }, { signal: never });
    await sleep(300);
    process.kill(pid, 'SIGSTOP');
    await expect(running).rejects.toMatchObject({ code: 'HG_WORKER_LOST', where: { signal: 'SIGKILL' } });
  });

  it('K083: reports an entry that cannot start instead of waiting for it', async () => {
    const { slots: pool } = slots({ entry: new URL('./no-such-engine.ts', import.meta.url) });
    expect(await codeOf(pool.run({ method: 'echo', params: 0 }, { signal: never }))).toBe('HG_WORKER_LOST');
  });

  it('lets requests wait for a free slot, in order, and drops those that are aborted', async () => {
    const { slots: pool } = slots();
    const abort = new AbortController();
    const ends: string[] = [];
    const first = pool.run({ method: 'sleep', params: 300 }, { signal: never }).then(() => ends.push('first'));
    const dropped = codeOf(pool.run({ method: 'echo', params: 0 }, { signal: abort.signal }));
    const third = pool.run({ method: 'echo', params: 0 }, { signal: never }).then(() => ends.push('third'));
    abort.abort();
    expect(await dropped).toBe('HG_CANCELLED');
    await Promise.all([first, third]);
    expect(ends).toEqual(['first', 'third']);
    expect(pool.pids).toHaveLength(1);
  });

  it('grows and shrinks live', async () => {
    const { slots: pool } = slots();
    const work = [1, 2, 3].map(() => pool.run({ method: 'sleep', params: 400 }, { signal: never }));
    await waitFor(() => pool.active === 1);
    pool.resize(3);
    expect(pool.active).toBe(3);
    pool.resize(1);
    await Promise.all(work);
    expect(pool.pids).toHaveLength(1);
  });

  it('K075: thins a flood of progress out and bounds what an engine prints', async () => {
    const { slots: pool, lines } = slots();
    const heard: { n: number }[] = [];
    const last = await pool.run(
      { method: 'flood', params: 1000 },
      { signal: never, onProgress: (value) => heard.push(value as { n: number }) },
    );
    expect(heard.length).toBeGreaterThan(2);
    expect(heard.length).toBeLessThan(20);
    expect(heard.at(-1)).toEqual({ n: last });
    await pool.close(); // what was left out is said at the end of the output at the latest
    await waitFor(() => lines.some(({ dropped }) => Number(dropped) > 0));
    expect(lines.length).toBeLessThan(100);
  });

  it('never drops an event, and tells the last progress before a silence', async () => {
    const { slots: pool } = slots();
    const events: unknown[] = [];
    const progress: { value: unknown; at: number }[] = [];
    const began = Date.now();
    await pool.run(
      { method: 'events', params: 0 },
      {
        signal: never,
        onEvent: (value) => events.push(value),
        onProgress: (value) => progress.push({ value, at: Date.now() }),
      },
    );
    expect(events).toHaveLength(20);
    expect(progress.map(({ value }) => value)).toEqual(['first', 'last before silence']);
    expect(Date.now() - (progress[1]?.at ?? began)).toBeGreaterThan(150);
  });

  it('K065: an engine that computes without pause does not delay the loop of the service', async () => {
    const { slots: pool } = slots({ size: 2 });
    await Promise.all([1, 2].map(() => pool.run({ method: 'echo', params: 0 }, { signal: never })));
    using loop = new LoopMonitor();
    // On a machine that is busy with other things a round may be spoilt by those.
    const rounds: { p99: number; max: number }[] = [];
    const good = () => rounds.some(({ p99, max }) => p99 < 50 && max < 1000);
    while (rounds.length < 4 && !good()) {
      await sleep(50);
      loop.read();
      await pool.run({ method: 'busy', params: 1500 }, { signal: never });
      rounds.push(loop.read());
    }
    expect({ rounds, good: good() }).toMatchObject({ good: true });
  });

  it('leaves no process behind when it is closed, and takes nothing more', async () => {
    const { slots: pool } = slots({ size: 2 });
    const running = codeOf(pool.run({ method: 'sleep', params: 60_000 }, { signal: never }));
    await pool.run({ method: 'echo', params: 0 }, { signal: never });
    const pids = pool.pids;
    await pool.close();
    expect(await running).toBe('HG_WORKER_LOST');
    expect(pids.map(processExists)).toEqual([false, false]);
    expect(await codeOf(pool.run({ method: 'echo', params: 0 }, { signal: never }))).toBe('HG_CANCELLED');
  });
});
