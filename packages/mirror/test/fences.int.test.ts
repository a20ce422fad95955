import { readdir, rename } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { cloneToStaging } from '../src/clone.ts';
import { closeTask } from '../src/close.ts';
import type { MirrorContext } from '../src/context.ts';
import { seal, takeFence } from '../src/fences.ts';
import { Lane, readLane } from '../src/lane/lane.ts';
import { runEngine } from './support/child.ts';
import { only, remains, scene, task } from './support/scene.ts';
import { codeOf, context } from './support/volume.ts';

describe('fences', () => {
  it('rise with every attempt of every task', async () => {
    using s = await scene();
    const [first, second] = [task(1), task(2)];
    const take = async (ref: typeof first) =>
      (await takeFence(s.volume, { task: ref, mirror: s.mirror }, context())).fence;
    expect(await take(first)).toBe(1);
    expect(await take(first)).toBe(2);
    expect(await take(second)).toBe(3);
    expect(await take(second)).toBe(4);
  });

  it('are refused to a lower task number, and to another task of the same number', async () => {
    using s = await scene();
    await takeFence(s.volume, { task: task(2), mirror: s.mirror }, context());
    const before = await remains(s.volume);
    for (const late of [task(1), task(2)]) {
      expect(await codeOf(cloneToStaging(s.volume, s.cloneRequest(late), context()))).toBe('HG_FENCED');
    }
    expect(await remains(s.volume)).toEqual(before);
    expect(await readLane(s.volume, s.mirror)).toMatchObject({ fence: 1, state: 'writing' });
  });

  it('are not given for a sealed task: what it wrote is returned, even when its source is gone', async () => {
    using s = await scene();
    const ref = task(1);
    const written = await cloneToStaging(s.volume, s.cloneRequest(ref), context());
    const again = await cloneToStaging(s.volume, s.cloneRequest(ref, s.dir.join('gone.hg')), context());
    expect(again).toEqual(written);
    expect(await readLane(s.volume, s.mirror)).toMatchObject({ fence: 1, state: 'sealed' });
  });

  it('are not given for a settled task: a published one returns what it wrote, another says how it ended', async () => {
    using s = await scene();
    const ref = task(1);
    const written = await cloneToStaging(s.volume, s.cloneRequest(ref), context());
    await closeTask(s.volume, s.closeRequest(ref, written), context());
    expect(await cloneToStaging(s.volume, s.cloneRequest(ref), context())).toEqual(written);

    const failed = task(2);
    await closeTask(s.volume, s.closeRequest(failed, undefined), context());
    expect(await codeOf(cloneToStaging(s.volume, s.cloneRequest(failed), context()))).toBe('HG_FENCED');
    const cancelled = task(3);
    await closeTask(s.volume, s.closeRequest(cancelled, undefined, { cancelled: true }), context());
    expect(await codeOf(cloneToStaging(s.volume, s.cloneRequest(cancelled), context()))).toBe('HG_CANCELLED');
    expect(await remains(s.volume)).toEqual(only(s.mirror, 1));
  });

  it('let only the attempt seal that holds the latest', async () => {
    using s = await scene();
    const lane = { task: task(1), mirror: s.mirror };
    const first = await takeFence(s.volume, lane, context());
    const second = await takeFence(s.volume, lane, context());
    const write = (await cloneToStaging(s.volume, { ...s.cloneRequest(task(1)), mirror: 'other' }, context())).write;
    const sealAs = (attempt: typeof first) => seal(s.volume, lane, { ...context(), written: { ...attempt, write } });
    expect(await codeOf(sealAs(first))).toBe('HG_FENCED');
    await sealAs(second);
    expect(await codeOf(sealAs(second))).toBe('HG_FENCED');
    expect(await readLane(s.volume, s.mirror)).toMatchObject({ state: 'sealed', fence: 2 });
  });

  it('keep two attempts apart that write at once: one seals and is published', async () => {
    using s = await scene();
    const ref = task(1);
    let arrived = 0;
    const together: MirrorContext = context({
      // Neither seals before both have written.
      checkpoint: async (name) => {
        if (name === 'clone-written') arrived++;
        while (name === 'clone-written' && arrived < 2) await new Promise((resolve) => setTimeout(resolve, 2));
      },
    });
    const attempts = await Promise.allSettled([
      cloneToStaging(s.volume, s.cloneRequest(ref), together),
      cloneToStaging(s.volume, s.cloneRequest(ref), together),
    ]);
    const sealed = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? attempt.value : []));
    const codes = attempts.flatMap((attempt) => (attempt.status === 'rejected' ? attempt.reason.code : []));
    // The one that came first either wrote to a directory that has gone, or found itself overtaken when it sealed.
    expect(sealed).toEqual([expect.objectContaining({ fence: 2 })]);
    expect(codes).toHaveLength(1);
    const settled = await closeTask(s.volume, s.closeRequest(ref, sealed[0]), context());
    expect(settled).toMatchObject({ state: 'ready', generation: 1 });
    expect(await remains(s.volume)).toEqual(only(s.mirror, 1));
  });

  it('let one of many closes at once publish, and give all the same end', async () => {
    using s = await scene();
    const ref = task(1);
    const written = await cloneToStaging(s.volume, s.cloneRequest(ref), context());
    const closes = Array.from({ length: 6 }, () =>
      closeTask(s.volume, s.closeRequest(ref, written, { flush: true }), context()),
    );
    const ends = await Promise.all(closes);
    for (const end of ends) expect(end).toEqual(ends[0]);
    expect(ends[0]).toMatchObject({ state: 'ready', generation: 1 });
    expect(await remains(s.volume)).toEqual(only(s.mirror, 1));
  });

  it.each(['close-proved', 'close-receipt-staged', 'close-receipt-durable'] as const)(
    'let no close end a task because its volume has gone at %s: it is closed once that is back',
    async (moment) => {
      using s = await scene();
      const ref = task(1);
      const written = await cloneToStaging(s.volume, s.cloneRequest(ref), context());
      const { root } = s.volume;
      const checkpoint = async (name: string) => {
        if (name === moment) await rename(root, `${root}.unmounted`);
      };
      const request = s.closeRequest(ref, written, { flush: true });
      expect(await codeOf(closeTask(s.volume, request, context({ checkpoint })))).not.toBeUndefined();
      await rename(`${root}.unmounted`, root);
      expect(await closeTask(s.volume, request, context())).toMatchObject({ state: 'ready', generation: 1 });
      expect(await remains(s.volume)).toEqual(only(s.mirror, 1));
    },
  );

  it('stop an earlier task from publishing once a later one has the lane', async () => {
    using s = await scene();
    const [first, second] = [task(1), task(2)];
    const written = await cloneToStaging(s.volume, s.cloneRequest(first), context());
    await s.publish(second, s.bundle('second'));
    const late = await closeTask(s.volume, s.closeRequest(first, written), context());
    expect(late).toMatchObject({ state: 'failed', problem: { code: 'HG_FENCED' } });
    // Whoever gave the number out has to know where the lane is by now.
    expect(late.problem?.where).toEqual({ mirror: s.mirror, task: 1, lane: 2 });
    expect(await remains(s.volume)).toEqual(only(s.mirror, 1));
    expect(await readLane(s.volume, s.mirror)).toMatchObject({ task: second, state: 'settled' });
  });

  it('leave an earlier task its end when it comes back late', async () => {
    using s = await scene();
    const first = task(1);
    const written = await cloneToStaging(s.volume, s.cloneRequest(first), context());
    await closeTask(s.volume, s.closeRequest(first, written), context());
    await s.publish(task(2), s.bundle('second'));
    const late = await closeTask(s.volume, s.closeRequest(first, written), context());
    expect(late).toMatchObject({ state: 'ready', generation: 1 });
    expect(await remains(s.volume)).toEqual(only(s.mirror, 1, 2));
  });

  it('send bytes that a restart of the machine may have lost to be written again', async () => {
    using s = await scene();
    const ref = task(1);
    const written = await cloneToStaging(s.volume, s.cloneRequest(ref), context());
    await rebooted(s);
    // Not an end of the task: this flow has nothing to publish, the next one has.
    for (let run = 0; run < 2; run++) {
      expect(await codeOf(closeTask(s.volume, s.closeRequest(ref, written), context()))).toBe('HG_FENCED');
    }
    expect(await readLane(s.volume, s.mirror)).toMatchObject({ state: 'writing', fence: 1 });
    const again = await cloneToStaging(s.volume, s.cloneRequest(ref), context());
    expect(again.fence).toBe(2);
    const settled = await closeTask(s.volume, s.closeRequest(ref, again), context());
    expect(settled).toMatchObject({ state: 'ready', generation: 1 });
    expect(await remains(s.volume)).toEqual(only(s.mirror, 1));
  });

  it('do not show after a restart what was proved but, as wished, never flushed', async () => {
    using s = await scene();
    const ref = task(1);
    const written = await cloneToStaging(s.volume, s.cloneRequest(ref), context());
    const request = s.closeRequest(ref, written, { flush: false });
    await runEngine('close', { root: s.volume.root, request }, { checkpoint: 'close-receipt-durable' });
    await rebooted(s);
    expect(await closeTask(s.volume, request, context())).toMatchObject({
      state: 'failed',
      problem: { code: 'HG_WORKER_LOST' },
    });
    expect(await remains(s.volume)).toEqual([]);
  });

  it('never mistake a directory named by a queue for their own', async () => {
    using s = await scene();
    const ref = task(1);
    const written = await cloneToStaging(s.volume, s.cloneRequest(ref), context());
    const settled = await closeTask(s.volume, s.closeRequest(ref, { ...written, staging: '../mirrors' }), context());
    expect(settled).toMatchObject({ state: 'failed', problem: { code: 'HG_USAGE' } });
    const other = task(2);
    const garbled = { ...(await cloneToStaging(s.volume, s.cloneRequest(other), context())), write: { v: 1 } };
    expect(await closeTask(s.volume, s.closeRequest(other, garbled), context())).toMatchObject({
      state: 'failed',
      problem: { code: 'HG_USAGE' },
    });
    expect(await readdir(s.volume.root)).toContain('mirrors');
  });
});

/** The lane as another boot of this machine has written it. */
async function rebooted(s: Awaited<ReturnType<typeof scene>>): Promise<void> {
  const record = await readLane(s.volume, s.mirror);
  if (!record) throw new Error('no record');
  const { open } = await import('node:fs/promises');
  const { encodeFrame } = await import('../src/lane/frame.ts');
  {
    await using lane = await Lane.acquire(s.volume, s.mirror, { signal: context().signal, lockDuration: 30_000 });
    for (let i = 0; i < 2; i++) await lane.write(record);
  }
  const frame = encodeFrame(JSON.stringify({ seq: 1000, record: { ...record, boot: 'another boot' } }));
  await using file = await open(s.volume.paths.lane(s.mirror), 'r+');
  await file.write(frame, 0, frame.length, 0);
}
