import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { Progress } from '@quicksilver/jobs';
import { ProgressReport } from '../../src/worker/progress-report.ts';

const progress = (done: number, stage = 'write') => ({ stage, files: { done, total: 9 }, bytes: { done, total: 9 } });

describe('ProgressReport', () => {
  it('writes the first at once, then the latest of each interval', async () => {
    const written: number[] = [];
    using report = new ProgressReport({
      taskId: 'a',
      interval: 60,
      write: async (value: Progress) => written.push(value.files.done),
    });
    for (const done of [1, 2, 3]) report.push(progress(done));
    await sleep(20);
    for (const done of [4, 5]) report.push(progress(done));
    await sleep(120);
    expect(written).toEqual([3, 5]);
    expect(report.stage).toBe('write');
  });

  it('does not keep a new stage waiting, so that quick work is seen, but each stage only once', async () => {
    const written: string[] = [];
    using report = new ProgressReport({
      taskId: 'a',
      interval: 60_000,
      write: async ({ stage, files }: Progress) => written.push(`${stage} ${files.done}`),
    });
    for (const stage of ['plan', 'write', 'seal', 'write', 'seal']) {
      for (const done of [1, 2]) report.push(progress(done, stage));
      await sleep(20);
    }
    expect(written).toEqual(['plan 2', 'write 2', 'seal 2']);
  });

  it('has one write under way at a time, and goes on after one that failed', async () => {
    let open = 0;
    let most = 0;
    let writes = 0;
    using report = new ProgressReport({
      taskId: 'a',
      interval: 5,
      write: async () => {
        writes += 1;
        open += 1;
        most = Math.max(most, open);
        await sleep(20);
        open -= 1;
        if (writes === 1) throw new Error('Redis is away');
      },
    });
    for (let done = 0; done < 10; done += 1) {
      report.push(progress(done));
      await sleep(10);
    }
    expect(most).toBe(1);
    expect(writes).toBeGreaterThan(2);
  });

  it('ignores what is no progress, and is silent after its end', async () => {
    const written: unknown[] = [];
    const report = new ProgressReport({ taskId: 'a', interval: 1, write: async (value) => written.push(value) });
    for (const junk of [undefined, 'x', {}, { stage: 'write' }]) report.push(junk);
    report.push(progress(1));
    report[Symbol.dispose]();
    report.push(progress(2));
    await sleep(20);
    expect(written).toEqual([]);
  });
});
