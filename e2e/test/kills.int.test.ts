import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  newestHg,
  type Random,
  type SyntheticBundle,
  seededRandom,
  waitFor,
  writeSyntheticBundle,
} from '@quicksilver/testing';
import { Deployment } from '../harness/deployment.ts';
import { FaultTable } from '../harness/fault-table.ts';
import { expectNothingLeft, published, storeHash } from '../harness/published.ts';
import { staging } from '../harness/volume-view.ts';

/** Kills in all; `QUICKSILVER_KILLS=200` for a long run. */
const KILLS = Number(process.env.QUICKSILVER_KILLS ?? 20);
const SEED = Number(process.env.QUICKSILVER_SEED ?? 20_261_130);

const VICTIMS = {
  writer: (site: Deployment) => killAndRestart(site.writer),
  'engine child': async (site: Deployment, random: Random) => {
    process.kill(random.pick([...site.writer.descendants(), ...site.closer.descendants()]), 'SIGKILL');
  },
  closer: (site: Deployment) => killAndRestart(site.closer),
  api: (site: Deployment) => killAndRestart(site.api),
  redis: async (site: Deployment) => {
    await site.redis.kill9();
    await sleep(300);
    await site.redis.start();
  },
} satisfies Record<string, (site: Deployment, random: Random) => Promise<void>>;

/** Files below the staging folders of a task. */
function filesWritten(site: Deployment, id: string): number {
  const own = staging(site.volume).filter((entry) => entry.startsWith(id));
  try {
    return own.reduce((sum, entry) => {
      const found = readdirSync(join(site.volume, 'staging', entry), { recursive: true, withFileTypes: true });
      return sum + found.filter((each) => each.isFile()).length;
    }, 0);
  } catch {
    return 0; // moved away meanwhile
  }
}

async function killAndRestart(service: Deployment['writer']): Promise<void> {
  await service.kill9();
  await service.start();
}

describe('kill -9 at any moment of a clone', () => {
  const table = new FaultTable('kills');
  const random: Random = seededRandom(SEED);
  let site: Deployment;
  let bundle: SyntheticBundle;
  let store: string;
  /** Milliseconds of a clone that nobody disturbs, from POST to settled. */
  let span: number;

  beforeAll(async () => {
    // Slow opens stretch the writing, so that moments fall into every stage.
    site = await Deployment.start({ redis: { appendOnly: true }, slowOpens: 3000 });
    bundle = writeSyntheticBundle(join(site.sources, 'source.hg'), { files: 200, fileSize: 1000 });
    // Twice: the first one also starts the engines.
    for (const name of ['first', 'undisturbed']) {
      const started = performance.now();
      const posted = await site.client.create(name, bundle.path);
      expect(await site.client.settled(posted.body.task.id)).toMatchObject({ outcome: 'ready' });
      span = performance.now() - started;
    }
    store = await storeHash(site.volume, 'undisturbed', 1);
    expect(await newestHg().run(['-R', join(site.volume, 'mirrors', 'undisturbed'), 'verify'])).toMatchObject({
      code: 0,
    });
  });

  afterAll(async () => {
    process.stdout.write(`${table.write()}(seed ${SEED}, undisturbed clone ${Math.round(span)} ms)\n`);
    await site?.[Symbol.asyncDispose]();
  });

  it.each([10, 50, 99])('K033: of the writer at %i percent: the next attempt ends complete', async (percent) => {
    const name = `percent/${percent}`;
    const posted = await site.client.create(name, bundle.path);
    const { id } = posted.body.task;
    await waitFor(() => filesWritten(site, id) >= (bundle.storeFiles * percent) / 100, {
      interval: 2,
      what: `${percent} percent of the files`,
    });
    await VICTIMS.writer(site);
    expect(await site.client.settled(id, 40_000)).toMatchObject({ outcome: 'ready', generation: 1 });
    expect(await published(site.volume, name)).toEqual({ generations: [1], receipts: [1], shown: 1, store });
    table.add(`kill -9 of writer at ${percent} percent`, 'published once, complete');
    await expectNothingLeft(site);
  });

  it('K083: a task whose engine is killed at every attempt fails as what it is, within a minute', async () => {
    const posted = await site.client.create('lost', bundle.path);
    const { id } = posted.body.task;
    const settled = site.client.settled(id, 60_000);
    let kills = 0;
    let over = false;
    const hunt = async () => {
      const fences = new Set<string>();
      while (!over) {
        const [fence] = staging(site.volume).filter((entry) => entry.startsWith(id) && !fences.has(entry));
        if (fence !== undefined) {
          fences.add(fence);
          for (const pid of site.writer.descendants()) process.kill(pid, 'SIGKILL');
          kills += 1;
        }
        await sleep(5);
      }
    };
    const hunting = hunt();
    const task = await settled.finally(() => {
      over = true;
    });
    await hunting;
    table.add('kill -9 of every engine child of a task', `${task.outcome} as ${task.problem?.code}, ${kills} attempts`);
    expect(task).toMatchObject({ outcome: 'failed', problem: { code: 'HG_WORKER_LOST', class: 'memory' } });
    expect(kills).toBeGreaterThan(1);
    await expectNothingLeft(site);
    // The service itself goes on.
    const next = await site.client.clone('lost');
    expect(await site.client.settled(next.body.task.id)).toMatchObject({ outcome: 'ready' });
  }, 90_000);

  const rounds = Object.keys(VICTIMS).map((victim, i, all) => ({
    victim: victim as keyof typeof VICTIMS,
    times: Math.ceil((KILLS - i) / all.length),
  }));

  it.each(rounds)(
    'of $victim, $times times: published once, complete, nothing left',
    async ({ victim, times }) => {
      for (let round = 0; round < times; round++) {
        const name = `${victim.replace(' ', '-')}/${round}`;
        const moment = Math.floor(random.next() * span);
        const posting = site.client.create(name, bundle.path);
        await sleep(moment);
        await VICTIMS[victim](site, random);
        const posted = await posting;
        const task = await site.client.settled(posted.body.task.id, 40_000).catch((error: unknown) => {
          throw new Error(`round ${round}, ${victim} killed after ${moment} ms\n${site.tail()}`, { cause: error });
        });
        const facts = { outcome: task.outcome, ...(await published(site.volume, name)) };
        const expected = { outcome: 'ready', generations: [1], receipts: [1], shown: 1, store };
        table.add(`kill -9 of ${victim}`, facts.outcome === 'ready' ? 'published once, complete' : `${facts.outcome}`);
        expect({ round, moment, ...facts }).toEqual({ round, moment, ...expected });
        expect(task.generation).toBe(1);
      }
      await expectNothingLeft(site);
    },
    60_000 + KILLS * 15_000,
  );
});
