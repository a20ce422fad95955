import { openSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { waitFor } from '@quicksilver/testing';
import type { CloseReply, CloseThreadData } from '../src/close-messages.ts';
import { CloseQueue } from '../src/close-queue.ts';
import { EngineThread } from '../src/engine-thread.ts';
import { Halt } from '../src/halt.ts';
import { OpenFileBudget } from '../src/open-files.ts';
import { SlowGauge } from '../src/slow-gauge.ts';

describe('CloseQueue', () => {
  it('gives files in order, with their names and sizes, over and over', () => {
    const queue = CloseQueue.create(3);
    for (let fd = 0; fd < 50; fd++) {
      expect(queue.tryPut(fd, `store/\u00e9${fd}`, fd * 2 ** 33)).toBe(true);
      const file = queue.tryTake();
      expect([file?.fd, file?.where()]).toEqual([fd, { file: `store/\u00e9${fd}`, offset: fd * 2 ** 33 }]);
      file?.release();
    }
    expect([queue.tryTake(), queue.open]).toEqual([undefined, 0]);
  });

  it.each([1, 2, 5])('never holds more than %i files, those in the hands of a closer included', (size) => {
    const queue = CloseQueue.create(size);
    for (let fd = 0; fd < size; fd++) expect(queue.tryPut(fd, 'f', 0)).toBe(true);
    expect(queue.tryPut(99, 'f', 0)).toBe(false);
    const file = queue.tryTake();
    expect(queue.tryPut(99, 'f', 0)).toBe(false);
    file?.release();
    expect(queue.tryPut(99, 'f', 0)).toBe(true);
    expect(queue.open).toBe(size);
  });

  it('keeps to a lower limit', () => {
    const queue = CloseQueue.create(8);
    queue.limit = 2;
    expect([1, 2, 3].map((fd) => queue.tryPut(fd, 'f', 0))).toEqual([true, true, false]);
    queue.limit = 0;
    queue.tryTake()?.release();
    expect(queue.tryPut(4, 'f', 0)).toBe(false);
  });

  it('lets closers take what is left after the end, then ends their wait', () => {
    const queue = CloseQueue.create(4);
    queue.tryPut(7, 'f', 0);
    queue.end();
    expect(queue.take()?.fd).toBe(7);
    expect(queue.take()).toBeUndefined();
  });

  it('wakes closers that sleep, at the latest when told to', async () => {
    const queue = CloseQueue.create(16);
    using halt = new Halt();
    await using closers = new EngineThread<never, CloseReply>({
      entry: new URL('../src/close-thread.ts', import.meta.url),
      name: 'closer',
      workerData: { queue: queue.handle, watch: false } satisfies CloseThreadData,
      halt,
      sharesDescriptors: true,
      onMessage: () => closers.done(),
    });
    await waitFor(() => queue.closers === 1);
    for (let i = 0; i < 40; i++) {
      queue.tryPut(openSync('/dev/null', 'r'), 'null', 0);
      if (i % 3 === 2) queue.wake();
      if (i % 5 === 4) await waitFor(() => queue.open <= 2); // what no wake has told of yet
    }
    queue.wake();
    await waitFor(() => queue.open === 0);
    queue.end();
  });

  it('cuts a very long name instead of refusing the file', () => {
    const queue = CloseQueue.create(2);
    queue.tryPut(1, 'x'.repeat(5_000), 0);
    queue.tryPut(2, 'next', 0);
    expect(queue.tryTake()?.where().file).toBe('x'.repeat(1_024));
    expect(queue.tryTake()?.where().file).toBe('next');
  });

  it.each([0, -1, 1.5, 2 ** 20])('refuses a size of %d', (size) => {
    expect(() => CloseQueue.create(size)).toThrow(expect.objectContaining({ code: 'HG_USAGE' }));
  });
});

describe('SlowGauge', () => {
  const fed = (times: readonly number[]): SlowGauge => {
    const gauge = new SlowGauge();
    for (const time of times) gauge.add(time);
    return gauge;
  };

  it('judges by the median of the last 64, and not before there are so many', () => {
    expect(fed(Array(63).fill(1)).verdict).toBeUndefined();
    expect(fed(Array(64).fill(1))).toMatchObject({ verdict: 'slow', median: 1 });
    // A few waits for the processor do not make a disk slow.
    expect(fed([...Array(31).fill(50), ...Array(33).fill(0.001)])).toMatchObject({ verdict: 'fast', median: 0.001 });
    expect(fed([...Array(1_000).fill(0.001), ...Array(64).fill(0.3)]).verdict).toBe('slow');
    expect(fed([...Array(1_000).fill(1), ...Array(64).fill(0.001)]).verdict).toBe('fast');
  });

  it('looks at every close until it is sure, then at some, and at all again once one was slow', () => {
    const gauge = new SlowGauge();
    const looked = (times: number, each: number): number =>
      Array.from({ length: times }, () => {
        const now = gauge.looksNow();
        if (now) gauge.add(each);
        return now;
      }).filter(Boolean).length;
    expect(looked(64, 0.001)).toBe(64);
    expect(looked(800, 0.001)).toBe(100);
    expect(looked(41, 1)).toBeGreaterThanOrEqual(33);
    expect(gauge.verdict).toBe('slow');
  });

  it('begins anew when told so', () => {
    const gauge = fed(Array(64).fill(1));
    gauge.reset();
    expect([gauge.verdict, gauge.median]).toEqual([undefined, undefined]);
  });
});

describe('OpenFileBudget', () => {
  it('is shared: nobody gets more than half of what is left, and what is given back can be had again', () => {
    let open = 20;
    const budget = new OpenFileBudget(() => ({ limit: 256, open }));
    const asked: number[] = [];
    const all = (available: number): number => asked[asked.push(available) - 1] ?? 0;
    const first = budget.reserve(all);
    open += first.granted; // they are open now, and must not count twice
    const second = budget.reserve(all);
    expect(asked).toEqual([110, 55]);
    second[Symbol.dispose]();
    second[Symbol.dispose]();
    expect(budget.reserve(all).granted).toBe(55);
  });

  it('has nothing to give where nearly all is open', () => {
    expect(new OpenFileBudget(() => ({ limit: 64, open: 60 })).reserve((available) => available).granted).toBe(0);
  });
});
