import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CloseData, flowId, queueName, type TaskFlow, taskFlow } from '@quicksilver/jobs';
import { type SyntheticBundle, waitFor, writeSyntheticBundle } from '@quicksilver/testing';
import { FlowProducer } from 'bullmq';
import { Deployment, VOLUME } from '../harness/deployment.ts';
import { FaultTable } from '../harness/fault-table.ts';
import { untilReady } from '../harness/health.ts';
import { expectNothingLeft, published, storeHash } from '../harness/published.ts';
import { connectionTo, jobFields } from '../harness/redis-view.ts';
import type { Service } from '../harness/service.ts';
import { staging } from '../harness/volume-view.ts';

/** Milliseconds that Redis is away; 10,000 in a long run. */
const OUTAGE = Number(process.env.QUICKSILVER_OUTAGE ?? 4000);

const table = new FaultTable('queue');
afterAll(() => void process.stdout.write(table.write()));

describe('faults around the queue', () => {
  let site: Deployment;
  let bundle: SyntheticBundle;
  let store: string;
  beforeAll(async () => {
    // A clone takes about two seconds, and a stopping writer hands back at once.
    site = await Deployment.start({ writers: 2, slowOpens: 10_000, env: { QUICKSILVER_GRACE: '300' } });
    bundle = writeSyntheticBundle(join(site.sources, 'source.hg'), { files: 400, fileSize: 500 });
    const posted = await site.client.create('undisturbed', bundle.path);
    expect(await site.client.settled(posted.body.task.id)).toMatchObject({ outcome: 'ready' });
    store = await storeHash(site.volume, 'undisturbed', 1);
  });
  afterAll(async () => await site?.[Symbol.asyncDispose]());

  /** Posts a mirror and waits until an engine writes for it; returns the task and the writer. */
  const underWay = async (name: string): Promise<{ id: string; writer: Service }> => {
    const posted = await site.client.create(name, bundle.path);
    const { id } = posted.body.task;
    await waitFor(() => staging(site.volume).some((entry) => entry.startsWith(id)), { what: 'writing to begin' });
    const writer = await waitFor(() => site.writers.find((each) => begins(each, id) > 0), { what: 'a writer' });
    return { id, writer };
  };

  const addFlow = async (flow: TaskFlow): Promise<void> => {
    const flows = new FlowProducer({ prefix: flow.prefix, connection: connectionTo(site.redis) });
    try {
      await flows.add(flow as Parameters<FlowProducer['add']>[0]);
    } finally {
      await flows.close();
    }
  };

  const begins = (writer: Service, task: string): number =>
    writer.log.filter((line) => line.task === task && line.msg === 'job begins').length;

  const expectOnce = async (name: string, id: string, what: string) => {
    const task = await site.client.settled(id, 60_000).catch((error: unknown) => {
      throw new Error(site.tail(), { cause: error });
    });
    table.add(what, task.outcome === 'ready' ? 'published once, complete' : String(task.outcome));
    expect(task).toMatchObject({ outcome: 'ready', generation: 1, problem: null });
    expect(await published(site.volume, name)).toEqual({ generations: [1], receipts: [1], shown: 1, store });
  };

  it('two flows of one task at once: one publishes', async () => {
    const { id } = await underWay('twice');
    const fields = await jobFields(site.redis, queueName('close', VOLUME), flowId(id, 1));
    const close = CloseData.parse(JSON.parse(fields.get('data') ?? '{}'));
    await addFlow(
      taskFlow({
        action: 'clone',
        mirror: close.mirror,
        volume: VOLUME,
        verify: 'quick',
        settings: {},
        source: close.source,
        task: { ...close.task, flow: 77 },
      }),
    );
    await expectOnce('twice', id, 'one task by two flows at once');
    const closed = async () =>
      (await jobFields(site.redis, queueName('close', VOLUME), flowId(id, 77))).get('returnvalue');
    const outcome = JSON.parse(await waitFor(closed, { deadline: 30_000, what: 'the second flow to end' }));
    expect(outcome).toMatchObject({ state: 'ready', generation: 1 });
    await expectNothingLeft(site);
  }, 60_000);

  it('a frozen attempt changes nothing after its successor has published', async () => {
    const { id, writer } = await underWay('frozen');
    const frozen = [writer.pid, ...writer.descendants()];
    for (const pid of frozen) process.kill(pid, 'SIGSTOP');
    try {
      await expectOnce('frozen', id, 'writer and engine frozen, thawed after publication');
    } finally {
      for (const pid of frozen.reverse()) process.kill(pid, 'SIGCONT');
    }
    await sleep(3000);
    expect(await published(site.volume, 'frozen')).toEqual({ generations: [1], receipts: [1], shown: 1, store });
    await expectNothingLeft(site);
    expect(await site.client.mirror('frozen')).toMatchObject({ state: 'ready', generation: 1 });
  }, 90_000);

  it('K088: the task ends well when Redis is emptied in the middle', async () => {
    const { id } = await underWay('emptied');
    await site.redis.flush();
    await expectOnce('emptied', id, 'Redis emptied in the middle');
    await expectNothingLeft(site);
  }, 90_000);

  it('K067: roll-outs and crashes of writers do not use up the attempts of a task', async () => {
    const { id } = await underWay('rolled');
    for (let round = 0; round < 5; round++) {
      // Of both writers, so that whoever has the job has to give it up.
      await Promise.all(
        site.writers.map(async (writer) => {
          if (round % 2 === 0) expect(await writer.stop()).toEqual({ code: 0, signal: null });
          else await writer.kill9();
          await writer.start();
        }),
      );
      await waitFor(() => site.writers.some((writer) => begins(writer, id) > 0), { what: 'the job to be taken up' });
      await sleep(500);
    }
    await expectOnce('rolled', id, '5 roll-outs and crashes of all writers in one clone');
    const fields = await jobFields(site.redis, queueName('clone', VOLUME), flowId(id, 1));
    expect(Number(fields.get('atm') ?? 0)).toBeLessThanOrEqual(1);
    await expectNothingLeft(site);
  }, 120_000);

  it('K071: work goes on by itself after Redis was away, and health says so meanwhile', async () => {
    const { id } = await underWay('outage');
    await site.redis.shutdown();
    const away = sleep(OUTAGE);
    for (const service of site.services) {
      const seen = await untilReady(service, false, 10_000);
      expect(seen).toMatchObject({ status: 503, text: expect.stringContaining('Redis') });
      expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
    }
    await away;
    await site.redis.start();
    const back = performance.now();
    for (const service of site.services) await untilReady(service, true);
    await expectOnce('outage', id, `Redis away for ${OUTAGE} ms, and empty afterwards`);
    const next = await site.client.create('after-outage', bundle.path);
    expect(await site.client.settled(next.body.task.id)).toMatchObject({ outcome: 'ready' });
    expect(performance.now() - back).toBeLessThan(60_000);
    await expectNothingLeft(site);
  }, 120_000);

  it('K071: a Redis that is there but gives no answer is told as well', async () => {
    await site.redis.freeze(true);
    try {
      for (const service of site.services) await untilReady(service, false, 15_000);
    } finally {
      await site.redis.freeze(false);
    }
    for (const service of site.services) await untilReady(service, true);
    const posted = await site.client.create('after-freeze', bundle.path);
    expect(await site.client.settled(posted.body.task.id)).toMatchObject({ outcome: 'ready' });
    table.add('Redis frozen', 'told by health, went on by itself');
  }, 90_000);
});
