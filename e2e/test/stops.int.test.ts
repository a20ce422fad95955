import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from '@jest/globals';
import { waitFor, writeSyntheticBundle } from '@quicksilver/testing';
import { Deployment } from '../harness/deployment.ts';
import { FaultTable } from '../harness/fault-table.ts';
import { readiness, untilReady } from '../harness/health.ts';
import { expectNothingLeft, published, storeHash } from '../harness/published.ts';

const table = new FaultTable('stops');
afterAll(() => void process.stdout.write(table.write()));

describe('a frozen close', () => {
  it('changes nothing after its successor has published', async () => {
    await using site = await Deployment.start({ closers: 2, slowFlush: 1_500_000 });
    const bundle = writeSyntheticBundle(join(site.sources, 'source.hg'), { files: 50, fileSize: 500 });
    const posted = await site.client.create('frozen-close', bundle.path);
    const { id } = posted.body.task;
    const closer = await waitFor(
      () => site.closers.find(({ log }) => log.some((line) => line.task === id && line.msg === 'job begins')),
      { deadline: 20_000, what: 'a closer to begin' },
    );
    await sleep(500); // in the middle of the flush
    const frozen = [closer.pid, ...closer.descendants()];
    for (const pid of frozen) process.kill(pid, 'SIGSTOP');
    let store: string;
    try {
      const task = await site.client.settled(id, 60_000);
      expect(task).toMatchObject({ outcome: 'ready', generation: 1 });
      store = await storeHash(site.volume, 'frozen-close', 1);
    } finally {
      for (const pid of frozen.reverse()) process.kill(pid, 'SIGCONT');
    }
    await sleep(3000);
    expect(await published(site.volume, 'frozen-close')).toEqual({ generations: [1], receipts: [1], shown: 1, store });
    expect(await site.client.task(id)).toMatchObject({ outcome: 'ready', generation: 1 });
    await expectNothingLeft(site);
    table.add('closer and engine frozen in the flush, thawed after publication', 'published once, complete');
  }, 90_000);
});

describe('K069: SIGTERM', () => {
  it.each(['api', 'writer', 'closer'] as const)(
    'lets the work under way end, then the %s exits with 0',
    async (app) => {
      await using site = await Deployment.start({ slowOpens: 5000, slowFlush: 1_000_000 });
      const bundle = writeSyntheticBundle(join(site.sources, 'source.hg'), { files: 400, fileSize: 500 });
      const posted = await site.client.create('drained', bundle.path);
      const { id } = posted.body.task;
      const events = site.client.events(id, AbortSignal.timeout(30_000));
      await events.next();
      const service = site[app];
      await waitFor(() => app === 'api' || service.log.some((line) => line.msg === 'job begins'), {
        what: 'work to begin',
      });
      expect(await readiness(service)).toMatchObject({ status: 200 });
      const exit = await service.stop();
      expect(exit).toEqual({ code: 0, signal: null });
      const said = service.log.map((line) => line.msg);
      expect(said).toEqual(expect.arrayContaining(['draining', 'drained']));
      if (app !== 'api') expect(said).toContain('job done');
      expect(service.noise).toEqual([]);
      table.add(`SIGTERM to a busy ${app}`, 'drained, exit 0');
      if (app === 'api') await service.start();
      else if (app === 'closer') await service.start();
      expect(await site.client.settled(id, 40_000)).toMatchObject({ outcome: 'ready', generation: 1 });
    },
    90_000,
  );
});

describe('K073: Redis settings', () => {
  it('a server that may evict is not used, and each service says why', async () => {
    await using site = await Deployment.start({ redis: { policy: 'allkeys-lru' } });
    for (const service of site.services) {
      const seen = await untilReady(service, false);
      expect(seen).toMatchObject({ status: 503, text: expect.stringContaining('noeviction') });
    }
  });

  it('a server that forbids to ask for its policy is judged by what it tells otherwise', async () => {
    await using site = await Deployment.start({ redis: { policy: 'volatile-ttl', hideConfig: true } });
    for (const service of site.services) {
      const seen = await untilReady(service, false);
      expect(seen).toMatchObject({ status: 503, text: expect.stringContaining('volatile-ttl') });
    }
  });
});
