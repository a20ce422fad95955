import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import {
  canInjectFaults,
  type FaultRule,
  faultCounts,
  faultEnv,
  spawnNode,
  tmpDir,
  treeHash,
} from '@quicksilver/testing';
import type { Closing, ClosingFacts } from '../src/closers.ts';
import { feed } from './support/feed.ts';
import { sampleFiles } from './support/samples.ts';

const CHILD = fileURLToPath(new URL('./support/feed-child.ts', import.meta.url));

interface Outcome {
  result?: { files: number; closing?: ClosingFacts };
  fault?: { code: string; where: Record<string, string | number> };
  seconds: number;
  left: string[];
}

interface Run {
  files: number;
  writers?: number;
  closing?: Closing;
  rule?: Partial<FaultRule>;
  wrapper?: string[];
}

/** Runs the samples in a child, compares what it wrote with what was asked, and says how many closes the library saw. */
async function run({ files, writers = 1, closing, rule, wrapper }: Run): Promise<Outcome & { closes: number }> {
  using dir = tmpDir();
  using side = tmpDir();
  const counts = side.join('counts');
  const child = await spawnNode(CHILD, {
    args: [dir.path, String(writers), String(files), JSON.stringify(closing ?? null)],
    env: faultEnv([{ kind: 'close', path: dir.path, ...rule }], counts),
    deadline: 60_000,
    ...(wrapper ? { wrapper } : {}),
  });
  expect(child).toMatchObject({ timedOut: false, code: 0, signal: null, stderr: '' });
  const outcome = JSON.parse(child.stdout) as Outcome;
  if (outcome.result) {
    using good = tmpDir();
    await feed(sampleFiles(files, 1), { root: good.path, writers: 0, blockSize: 1 << 20, count: 2 });
    expect(await treeHash(dir.path)).toBe(await treeHash(good.path));
  }
  expect(outcome.left).toEqual([]);
  return { ...outcome, closes: faultCounts(counts, 1)[0]?.calls ?? 0 };
}

describe('background closers', () => {
  it('never change the result, whatever the writers, the memory and the order of files', async () => {
    const hashes = new Set<string>();
    let seed = 20;
    const closings: (Closing | undefined)[] = [
      undefined, // what it is compared with
      { mode: 'on', threads: 2, maxQueue: 8 },
      { mode: 'on', threads: 1, maxQueue: 1 },
      { mode: 'on', threads: 4 },
    ];
    for (const writers of [0, 1, 2, 4, 8]) {
      const closing = closings[seed % closings.length];
      const blockSize = [4_096, 32_768, 1 << 20][seed % 3] ?? 4_096;
      using dir = tmpDir();
      const files = sampleFiles(200, seed++);
      const tally = await feed(files, { root: dir.path, writers, blockSize, count: 3, closing });
      expect(tally).toMatchObject({ files: 200, bytes: files.reduce((sum, file) => sum + file.bytes.length, 0) });
      hashes.add(await treeHash(dir.path));
    }
    expect(hashes.size).toBe(1);
  });

  it('do not come in by themselves where close is fast', async () => {
    using dir = tmpDir();
    const { closing } = await feed(sampleFiles(400, 1), {
      root: dir.path,
      writers: 1,
      blockSize: 1 << 16,
      count: 4,
      closing: { mode: 'auto' },
    });
    expect(closing).toMatchObject({ closers: 0, why: expect.stringContaining('fast') });
  });

  it('of a stop in the middle end with all their files closed', async () => {
    using dir = tmpDir();
    const controller = new AbortController();
    let blocks = 0;
    const work = feed(sampleFiles(500, 2), {
      root: dir.path,
      writers: 2,
      blockSize: 32_768,
      count: 2,
      closing: { mode: 'on', threads: 2, maxQueue: 8 },
      signal: controller.signal,
      onBlock: () => {
        if (++blocks === 3) controller.abort(new Error('enough'));
      },
    });
    await expect(work).rejects.toMatchObject({ code: 'HG_CANCELLED' });
  });
});

(canInjectFaults() ? describe : describe.skip)('slow close', () => {
  const slow: Partial<FaultRule> = { delay: 1_500 };

  it.each([0, 1])(
    'K111: four closers with %i writer threads gain nearly as many times, and the library has seen every file',
    async (writers) => {
      const files = 300;
      const delay = 20_000; // one after the other they take 6 s
      let gain = 0;
      // Five close at once, as the writer does too when the queue is full. A busy machine starts threads slowly.
      for (let tries = 0; tries < 3 && gain < 2; tries++) {
        const closing = { mode: 'on', threads: 4, maxQueue: 32 } as const;
        const { seconds, closes, result } = await run({ files, writers, rule: { delay }, closing });
        expect(closes).toBe(files);
        expect(result?.closing).toMatchObject({ closers: 4, why: 'as asked' });
        gain = (files * delay) / 1e6 / seconds;
      }
      expect(gain).toBeGreaterThanOrEqual(2);
    },
  );

  it('brings closers in by itself, more than four where it pays', async () => {
    const { result, closes } = await run({ files: 1_500, rule: slow, closing: { mode: 'auto', files: 1_500 } });
    expect(closes).toBe(1_500);
    expect(result?.closing).toMatchObject({ closers: 12, why: expect.stringMatching(/^close took \d+\.\d\d ms/) });
    expect(result?.closing?.closeMilliseconds).toBeGreaterThan(1.4);
  });

  it('that becomes fast again leaves the work to the writers', async () => {
    // Only the first 200 closes are slow: the rest is seen to be fast by the closers themselves.
    const { result, closes } = await run({ files: 2_000, rule: { ...slow, has: 'f1' }, closing: { mode: 'auto' } });
    expect(result?.files).toBe(2_000);
    expect(closes).toBeGreaterThan(1_000);
  });

  it.each([1, 4])(
    'K045: with a limit of 64 open files and %i writers it is slower, and never fails',
    async (writers) => {
      const wrapper = ['sh', '-c', 'ulimit -n 64 && exec "$@"', 'sh'];
      for (const mode of ['on', 'auto'] as const) {
        const closing = { mode, threads: 16, maxQueue: 384 };
        const { result, fault, closes } = await run({ files: 600, writers, rule: slow, closing, wrapper });
        expect(fault).toBeUndefined();
        expect(closes).toBe(600);
        expect(result?.closing?.closers).toBeLessThan(16);
        expect(result?.closing?.why).toContain('limit of open files');
      }
    },
  );

  it('reports an error of the very last close with the name of its file', async () => {
    const closing = { mode: 'on', threads: 4, maxQueue: 384 } as const;
    const { fault, closes } = await run({ files: 300, rule: { nth: 300, errno: 'EIO', delay: 50_000 }, closing });
    expect(fault).toMatchObject({ code: 'HG_IO', where: { file: expect.stringMatching(/^store\/.*f\d+\.i$/) } });
    expect(closes).toBe(300);
  });
});
