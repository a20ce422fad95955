import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { flowId, queueName } from '@quicksilver/jobs';
import { type SyntheticBundle, waitFor, writeSyntheticBundle } from '@quicksilver/testing';
import type { TaskView } from '../harness/client.ts';
import { Deployment, VOLUME } from '../harness/deployment.ts';
import { FaultTable } from '../harness/fault-table.ts';
import { expectNothingLeft, published } from '../harness/published.ts';
import { jobFields } from '../harness/redis-view.ts';
import { leftovers, staging } from '../harness/volume-view.ts';

const LIMIT = 2000;
const NOTHING = { generations: [], receipts: [], shown: undefined, store: undefined };

describe('K090: cancel', () => {
  const table = new FaultTable('cancel');
  let site: Deployment;
  let bundle: SyntheticBundle;
  beforeAll(async () => {
    // Writing takes four seconds and flushing three: each state can be met.
    site = await Deployment.start({ slowOpens: 20_000, slowFlush: 3_000_000, env: { QUICKSILVER_CONCURRENCY: '1' } });
    bundle = writeSyntheticBundle(join(site.sources, 'source.hg'), { files: 400, fileSize: 500 });
  });
  afterAll(async () => {
    process.stdout.write(table.write());
    await site?.[Symbol.asyncDispose]();
  });

  const stage = async (id: string): Promise<unknown> => (await site.client.task(id)).progress?.stage;

  const writing = (id: string) =>
    waitFor(() => staging(site.volume).some((entry) => entry.startsWith(id)), { what: 'writing to begin' });

  /** Cancels, and measures until the task is settled as cancelled and nothing of it is left. */
  const cancel = async (id: string, what: string): Promise<TaskView> => {
    const asked = performance.now();
    const answer = await site.client.cancel(id);
    expect([200, 202]).toContain(answer.status);
    const task = await site.client.settled(id, 10_000).catch((error: unknown) => {
      throw new Error(site.tail(), { cause: error });
    });
    const took = performance.now() - asked;
    table.add(
      `cancel while ${what}`,
      task.outcome === 'cancelled' ? 'cancelled in time, nothing left' : 'not cancelled',
    );
    expect(task).toMatchObject({ outcome: 'cancelled' });
    expect({ what, inTime: took < LIMIT, took }).toMatchObject({ inTime: true });
    await waitFor(() => !staging(site.volume).some((entry) => entry.startsWith(id)), {
      deadline: LIMIT,
      what: 'its staging to go',
    });
    return task;
  };

  it('of a task that waits for its lane, and of one that waits for a slot', async () => {
    const first = await site.client.create('lane', bundle.path);
    await writing(first.body.task.id);
    const other = writeSyntheticBundle(join(site.sources, 'other.hg'), { files: 1, fileSize: 1 });
    await site.client.patiently('PATCH', '/v1/mirrors/lane', { source: other.path });
    const second = await site.client.clone('lane');
    expect(second.body.task.state).toBe('wanted');
    await cancel(second.body.task.id, 'waiting for its lane');
    const queued = await site.client.create('queued', bundle.path);
    await cancel(queued.body.task.id, 'waiting for a slot');
    expect(await published(site.volume, 'queued')).toEqual(NOTHING);
    await cancel(first.body.task.id, 'writing');
    expect(await published(site.volume, 'lane')).toEqual(NOTHING);
  }, 60_000);

  it('of a task that is written, flushed or just published', async () => {
    const posted = await site.client.create('flushing', bundle.path);
    await waitFor(async () => (await stage(posted.body.task.id)) === 'flush', { deadline: 20_000, what: 'the flush' });
    await cancel(posted.body.task.id, 'flushing');
    expect(await published(site.volume, 'flushing')).toEqual(NOTHING);
    // No retry: the clone job is not taken up again.
    const fields = await jobFields(site.redis, queueName('clone', VOLUME), flowId(posted.body.task.id, 1));
    expect(Number(fields.get('atm') ?? 0)).toBeLessThanOrEqual(1);

    const done = await site.client.create('done', bundle.path);
    await site.client.settled(done.body.task.id);
    const late = await site.client.cancel(done.body.task.id);
    expect(late.status).toBeLessThan(300);
    expect(await site.client.task(done.body.task.id)).toMatchObject({ outcome: 'ready' });
    expect(await site.client.mirror('done')).toMatchObject({ state: 'ready', generation: 1 });
    table.add('cancel after publication', 'changes nothing');
  }, 90_000);

  it('twice is once', async () => {
    const posted = await site.client.create('double', bundle.path);
    await writing(posted.body.task.id);
    await Promise.all([cancel(posted.body.task.id, 'writing'), cancel(posted.body.task.id, 'writing')]);
    expect(await published(site.volume, 'double')).toEqual(NOTHING);
  }, 60_000);

  it('shows at once and holds, although nobody is there to settle it', async () => {
    const posted = await site.client.create('alone', bundle.path);
    const { id } = posted.body.task;
    await writing(id);
    await Promise.all([site.closer.kill9(), site.writer.kill9()]);
    const answer = await site.client.cancel(id);
    expect(answer.status).toBeLessThan(300);
    expect(await site.client.task(id)).toMatchObject({ state: 'cancelling' });
    await Promise.all([site.closer.start(), site.writer.start()]);
    const back = performance.now();
    expect(await site.client.settled(id)).toMatchObject({ outcome: 'cancelled' });
    table.add('cancel with writer and closer away', 'shown at once, settled as soon as they were back');
    expect(performance.now() - back).toBeLessThan(5000);
    expect(await published(site.volume, 'alone')).toEqual(NOTHING);
  }, 60_000);

  it('leaves nothing at all, and the volume works as before', async () => {
    await expectNothingLeft(site);
    expect(leftovers(site.volume)).toEqual([]);
    const posted = await site.client.create('afterwards', bundle.path);
    expect(await site.client.settled(posted.body.task.id)).toMatchObject({ outcome: 'ready' });
  }, 60_000);
});
