import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fixturePath } from '@quicksilver/testing';
import type { TaskView } from '../harness/client.ts';
import { Deployment } from '../harness/deployment.ts';
import { expectNothingLeft, published } from '../harness/published.ts';

const NOTHING = { generations: [], receipts: [], shown: undefined, store: undefined };

/** A sample: every hostile file goes through the engine in a suite of its own. */
const HOSTILE = [
  { name: 's2-filecount-more', code: 'HG_TRUNCATED|HG_CORRUPT' },
  { name: 's2-name-requires', code: 'HG_UNSAFE_NAME' },
  { name: 's2-name-dotdot', code: 'HG_UNSAFE_NAME' },
  { name: 's2-dup-large', code: 'HG_CORRUPT|HG_UNSAFE_NAME' },
  { name: 's2-corrupt-changelog', code: 'HG_CORRUPT|HG_TRUNCATED|HG_UNPROVED' },
  { name: 's2-unknown-requirement', code: 'HG_UNSUPPORTED' },
  { name: 'part-error-abort', code: 'HG_REMOTE_ABORT' },
  { name: 'trunc-stream2-at-half', code: 'HG_TRUNCATED' },
  { name: 'magic-PK', code: 'HG_NOT_BUNDLE' },
  { name: 'empty-file', code: 'HG_TRUNCATED|HG_NOT_BUNDLE' },
];

describe('bad input through the queue', () => {
  let site: Deployment;
  beforeAll(async () => {
    site = await Deployment.start();
  });
  afterAll(async () => await site?.[Symbol.asyncDispose]());

  /** The task failed for good, and says what, where, whether it will be tried again, and what to do. */
  const expectProblem = (task: TaskView, problem: Record<string, unknown>) => {
    expect(task).toMatchObject({ state: 'settled', outcome: 'failed', generation: null });
    expect(task.problem).toMatchObject({
      retryable: false,
      stage: expect.any(String),
      class: expect.any(String),
      advice: expect.stringMatching(/.{20}/),
      ...problem,
    });
    expect(JSON.stringify(task.problem)).not.toMatch(/\\n\s+at /);
  };

  const fail = async (name: string, source: string): Promise<TaskView> => {
    const posted = await site.client.create(name, source);
    expect(posted.status).toBe(202);
    return site.client.settled(posted.body.task.id);
  };

  it.each(HOSTILE)('K119: $name fails the task once, by name, and publishes nothing', async ({ name, code }) => {
    const task = await fail(`hostile/${name}`, site.source(fixturePath(`hostile/${name}.hg`)));
    expectProblem(task, { code: expect.stringMatching(`^(${code})$`) });
    expect(await published(site.volume, `hostile/${name}`)).toEqual(NOTHING);
    expect(await site.client.mirror(`hostile/${name}`)).toMatchObject({
      state: 'failed',
      problem: { code: task.problem?.code },
    });
  });

  it('K119: a source that is not there, or leads out of the allowed folders, is told apart from a bad one', async () => {
    const missing = await fail('missing', join(site.sources, 'missing.hg'));
    expectProblem(missing, { code: 'HG_NOT_FOUND', class: 'source' });
    symlinkSync('/etc/hostname', join(site.sources, 'link.hg'));
    const outside = await fail('outside', join(site.sources, 'link.hg'));
    expectProblem(outside, { code: 'HG_POLICY', class: 'policy' });
    const later = await fail('later', site.source(fixturePath('bundle/basic.zstd-v2.hg')));
    expectProblem(later, { code: 'HG_NOT_YET' });
  });

  it('a mirror whose first clone failed is repaired through the API alone', async () => {
    const task = await fail('repaired', site.source(fixturePath('hostile/magic-PK.hg'), 'repaired.hg'));
    expect(task.outcome).toBe('failed');
    site.source(fixturePath('stream/tiny.stream-v2.hg'), 'repaired.hg');
    const again = await site.client.clone('repaired');
    expect(await site.client.settled(again.body.task.id)).toMatchObject({ outcome: 'ready', generation: 1 });
    expect(await site.client.mirror('repaired')).toMatchObject({ state: 'ready', problem: null });
    // A later failure leaves the good generation in place and says what went wrong.
    site.source(fixturePath('hostile/magic-PK.hg'), 'repaired.hg');
    const worse = await site.client.clone('repaired');
    expect(await site.client.settled(worse.body.task.id)).toMatchObject({ outcome: 'failed' });
    expect(await site.client.mirror('repaired')).toMatchObject({ generation: 1, problem: { code: 'HG_NOT_BUNDLE' } });
    expect((await published(site.volume, 'repaired')).shown).toBe(1);
  });

  it('leaves nothing behind', async () => {
    await expectNothingLeft(site);
  });
});
