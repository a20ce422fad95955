import { describe, expect, it } from '@jest/globals';
import { newestHg, seededRandom } from '@quicksilver/testing';
import { CLONE_CHECKPOINTS, CLOSE_CHECKPOINTS, RETIRE_CHECKPOINTS } from '../src/checkpoints.ts';
import { cloneToStaging } from '../src/clone.ts';
import { cancelTask, closeTask } from '../src/close.ts';
import { runJanitor } from '../src/janitor.ts';
import { readLane } from '../src/lane/lane.ts';
import { readMirror } from '../src/scan.ts';
import { runEngine, startEngine } from './support/child.ts';
import { only, remains, type Scene, scene, task } from './support/scene.ts';
import { context } from './support/volume.ts';

/** How often a random moment is tried. */
const RANDOM_KILLS = Number(process.env.QUICKSILVER_KILLS ?? 6);

const { signal } = new AbortController();
const sweep = (s: Scene) => runJanitor(s.volume, { signal, graceMs: 0 });

/** Everything is as after one undisturbed run. */
async function expectPublishedOnce(s: Scene, ...generations: number[]): Promise<void> {
  const facts = await readMirror(s.volume, s.mirror);
  expect(facts).toMatchObject({ generation: generations.at(-1), generations, problems: [] });
  expect(await remains(s.volume)).toEqual(only(s.mirror, ...generations));
}

describe('K033: kill -9', () => {
  it.each(CLONE_CHECKPOINTS)('at %s: the next attempt ends complete, published once', async (checkpoint) => {
    using s = await scene();
    const ref = task(1);
    const request = s.cloneRequest(ref);
    const killed = await runEngine('clone', { root: s.volume.root, request }, { checkpoint });
    expect(killed.signal).toBe('SIGKILL');

    // The janitor in between must neither help nor hurt.
    const swept = await sweep(s);
    expect(swept.problems).toEqual([]);
    const written = await cloneToStaging(s.volume, request, context());
    const settled = await closeTask(s.volume, s.closeRequest(ref, written), context());
    expect(settled).toMatchObject({ state: 'ready', generation: 1 });
    await sweep(s);
    await expectPublishedOnce(s, 1);
  });

  it.each(CLONE_CHECKPOINTS)('at %s, and given up: failed, nothing left', async (checkpoint) => {
    using s = await scene();
    const ref = task(1);
    await runEngine('clone', { root: s.volume.root, request: s.cloneRequest(ref) }, { checkpoint });
    const settled = await closeTask(s.volume, s.closeRequest(ref, undefined), context());
    expect(settled).toMatchObject({ state: 'failed', problem: { code: 'HG_WORKER_LOST' } });
    expect(await remains(s.volume)).toEqual([]);
  });

  it.each(CLOSE_CHECKPOINTS)('at %s: the next close ends in one publication', async (checkpoint) => {
    using s = await scene();
    await s.publish(task(1));
    const ref = task(2);
    const written = await cloneToStaging(s.volume, s.cloneRequest(ref, s.bundle('second')), context());
    const request = s.closeRequest(ref, written);
    const killed = await runEngine('close', { root: s.volume.root, request }, { checkpoint });
    expect(killed.signal).toBe('SIGKILL');

    // Readers have a whole generation at every moment.
    const between = await readMirror(s.volume, s.mirror);
    expect([1, 2]).toContain(between.generation);
    expect(between.receipt).toMatchObject({ generation: between.generation });
    // The grace is over for all that may go: what the next close needs stays nevertheless.
    await sweep(s);
    const settled = await closeTask(s.volume, request, context());
    expect(settled).toMatchObject({ state: 'ready', generation: 2, receipt: { task: ref } });
    await sweep(s);
    await expectPublishedOnce(s, 2);
  });

  it.each(CLOSE_CHECKPOINTS)('at %s, then cancelled: published if shown, else nothing', async (checkpoint) => {
    using s = await scene();
    const ref = task(1);
    const written = await cloneToStaging(s.volume, s.cloneRequest(ref), context());
    await runEngine('close', { root: s.volume.root, request: s.closeRequest(ref, written) }, { checkpoint });
    const shown = (await readMirror(s.volume, s.mirror)).generation;
    const settled = await cancelTask(s.volume, { task: ref, mirror: s.mirror }, context());
    expect(settled.state).toBe(shown === 1 ? 'ready' : 'cancelled');
    await sweep(s); // a close that was killed while it removed trash leaves some
    expect(await remains(s.volume)).toEqual(shown === 1 ? only(s.mirror, 1) : []);
    expect(await closeTask(s.volume, s.closeRequest(ref, written), context())).toEqual(settled);
    // A later task is not disturbed by anything that this one left.
    expect(await s.publish(task(2), s.bundle('second'))).toMatchObject({ state: 'ready' });
    await sweep(s);
    expect(await readMirror(s.volume, s.mirror)).toMatchObject({ problems: [] });
  });

  it.each(CLOSE_CHECKPOINTS)('at %s, then a close whose writer is lost: one recorded end', async (checkpoint) => {
    using s = await scene();
    const ref = task(1);
    const written = await cloneToStaging(s.volume, s.cloneRequest(ref), context());
    await runEngine('close', { root: s.volume.root, request: s.closeRequest(ref, written) }, { checkpoint });
    const settled = await closeTask(s.volume, s.closeRequest(ref, undefined), context());
    // A receipt of its own says that it was proved: then it is finished, whatever is missing from the queue.
    expect(['ready', 'failed']).toContain(settled.state);
    await sweep(s);
    expect(await remains(s.volume)).toEqual(settled.state === 'ready' ? only(s.mirror, 1) : []);
    expect(await closeTask(s.volume, s.closeRequest(ref, written), context())).toEqual(settled);
  });

  it.each(RETIRE_CHECKPOINTS)('at %s: the mirror is gone after the next run', async (checkpoint) => {
    using s = await scene();
    await s.publish(task(1));
    const ref = task(2);
    const request = s.closeRequest(ref, undefined, { action: 'retire' });
    const killed = await runEngine('close', { root: s.volume.root, request }, { checkpoint });
    expect(killed.signal).toBe('SIGKILL');
    await sweep(s);
    expect(await closeTask(s.volume, request, context())).toEqual({ state: 'ready' });
    await sweep(s);
    expect(await remains(s.volume)).toEqual([]);
    expect(await readLane(s.volume, s.mirror)).toMatchObject({ state: 'settled', action: 'retire', task: ref });
  });

  it('at random moments of clone and close: published once in the end, clean for stock hg', async () => {
    using s = await scene();
    const random = seededRandom(Number(process.env.QUICKSILVER_SEED ?? 20));
    for (let round = 1; round <= RANDOM_KILLS; round++) {
      const ref = task(round);
      const request = s.cloneRequest(ref, s.bundle(`round ${round}`));
      const writer = startEngine('clone', { root: s.volume.root, request });
      setTimeout(() => writer.kill('SIGKILL'), random.int(0, 400));
      await writer.end;
      const written = await cloneToStaging(s.volume, request, context());
      const closer = startEngine('close', {
        root: s.volume.root,
        request: s.closeRequest(ref, written, { flush: true }),
      });
      setTimeout(() => closer.kill('SIGKILL'), random.int(150, 450));
      await closer.end;
      const settled = await closeTask(s.volume, s.closeRequest(ref, written), context());
      expect(settled).toMatchObject({ state: 'ready', generation: round });
    }
    await sweep(s);
    await expectPublishedOnce(s, RANDOM_KILLS);
    const { code } = await newestHg().run(['-R', s.volume.paths.link(s.mirror), 'verify', '-q']);
    expect(code).toBe(0);
  });
});
