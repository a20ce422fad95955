import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { flowId, queueName, type ServiceHeartbeat } from '@quicksilver/jobs';
import { newestHg, type SyntheticBundle, waitFor, writeSyntheticBundle } from '@quicksilver/testing';
import { Deployment, VOLUME } from '../harness/deployment.ts';
import { FaultTable } from '../harness/fault-table.ts';
import { IdleProcess } from '../harness/idle-process.ts';
import { heartbeats, jobFields } from '../harness/redis-view.ts';

/** Megabytes of the bundle. */
const SIZE = Number(process.env.QUICKSILVER_BIG_MB ?? 500);
/** 1: this machine does nothing else, so the limit holds as it stands. */
const QUIET = process.env.QUICKSILVER_QUIET === '1';

describe(`K065, K116: a bundle of ${SIZE} MB under default lock times`, () => {
  let site: Deployment;
  let bundle: SyntheticBundle;
  beforeAll(async () => {
    const defaults = { QUICKSILVER_LOCK_DURATION: '30000', QUICKSILVER_STALLED_INTERVAL: '15000' };
    site = await Deployment.start({ env: defaults });
    bundle = writeSyntheticBundle(join(site.sources, 'big.hg'), { files: SIZE, fileSize: 1_000_000 });
  }, 120_000);
  afterAll(async () => await site?.[Symbol.asyncDispose]());

  it('leaves the event loops of writer and closer free, and is never counted as stalled', async () => {
    const started = performance.now();
    // Both slots at full load.
    const names = ['big/one', 'big/two'];
    const posted = await Promise.all(names.map((name) => site.client.create(name, bundle.path)));
    // A heartbeat tells of the time since the one before: those from now on until one after the end tell of it all.
    const began = Date.now();
    const beats = new Map<string, ServiceHeartbeat>();
    await using idle = await IdleProcess.start();
    let peak = 0;
    const watch = async () => {
      for (const beat of await heartbeats(site.redis)) {
        if (beat.at > began) beats.set(`${beat.instance} ${beat.kind} ${beat.at}`, beat);
      }
      for (const pid of site.writer.descendants()) peak = Math.max(peak, anonymousMemory(pid));
    };
    let settled = false;
    const tasks = Promise.all(posted.map(({ body }) => site.client.settled(body.task.id, 180_000))).finally(() => {
      settled = true;
    });
    while (!settled) {
      await watch();
      await sleep(200);
    }
    for (const task of await tasks) expect(task).toMatchObject({ outcome: 'ready' });
    const seconds = (performance.now() - started) / 1000;
    const ended = Date.now();
    await waitFor(
      async () => {
        await watch();
        return new Set([...beats.values()].filter(({ at }) => at > ended).map(({ kind }) => kind)).size === 2;
      },
      { interval: 200, what: 'a heartbeat of each service after the end' },
    );
    const delays = [...beats.values()].map(({ loopDelay }) => loopDelay);
    const worst = { p99: Math.max(...delays.map(({ p99 }) => p99)), max: Math.max(...delays.map(({ max }) => max)) };
    const noise = await idle.worstDelay();
    const table = new FaultTable('load');
    table.add(
      `2 x ${SIZE} MB at once`,
      `${seconds.toFixed(1)} s, event loop p99 ${worst.p99.toFixed(1)} ms, max ${worst.max.toFixed(1)} ms, an idle process waited ${noise.toFixed(1)} ms at worst, RssAnon of an engine ${Math.round(peak / 1e6)} MB`,
    );
    process.stdout.write(table.write());
    // Back-pressure reaches the reader: memory does not grow with the bundle.
    expect(peak).toBeLessThan(300e6);
    // Beyond what a process with nothing to do met at the same time: other work on this machine is not ours.
    expect(worst.p99).toBeLessThan(50 + (QUIET ? 0 : noise));
    expect(worst.max).toBeLessThan(1000);
    for (const { body } of posted) {
      for (const kind of ['clone', 'close'] as const) {
        const job = await jobFields(site.redis, queueName(kind, VOLUME), flowId(body.task.id, 1));
        // Started once, never stalled.
        expect({ kind, starts: job.get('ats'), stalls: job.get('stc') ?? '0' }).toEqual({
          kind,
          starts: '1',
          stalls: '0',
        });
      }
    }
    const tip = await newestHg().run([
      '-R',
      join(site.volume, 'mirrors', 'big/one'),
      'log',
      '-r',
      'tip',
      '-T',
      '{node}',
    ]);
    expect(tip.stdout).toBe(bundle.tip);
  }, 240_000);
});

/** Bytes of a process that are not backed by files; 0 when it is gone. */
function anonymousMemory(pid: number): number {
  try {
    const kilobytes = /^RssAnon:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kilobytes ?? 0) * 1024;
  } catch {
    return 0;
  }
}
