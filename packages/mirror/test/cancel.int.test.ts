import { readdir } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { waitFor, writeSyntheticBundle } from '@quicksilver/testing';
import type { Checkpoint } from '../src/checkpoints.ts';
import { cloneToStaging } from '../src/clone.ts';
import { cancelTask, closeTask } from '../src/close.ts';
import { readLane } from '../src/lane/lane.ts';
import { sweepTrash } from '../src/trash.ts';
import { runEngine, startEngine } from './support/child.ts';
import { only, remains, type Scene, scene, task } from './support/scene.ts';
import { codeOf, context } from './support/volume.ts';

const cancel = (s: Scene, ref: ReturnType<typeof task>) =>
  cancelTask(s.volume, { task: ref, mirror: s.mirror }, context());

/** A cancelled task stays so, whoever comes late. */
async function expectCancelled(s: Scene, ref: ReturnType<typeof task>): Promise<void> {
  expect(await remains(s.volume)).toEqual([]);
  expect(await readLane(s.volume, s.mirror)).toMatchObject({
    task: ref,
    state: 'settled',
    outcome: { state: 'cancelled' },
  });
  expect(await codeOf(cloneToStaging(s.volume, s.cloneRequest(ref), context()))).toBe('HG_CANCELLED');
  expect(await closeTask(s.volume, s.closeRequest(ref, undefined), context())).toMatchObject({ state: 'cancelled' });
  expect(await cancel(s, ref)).toMatchObject({ state: 'cancelled', problem: { code: 'HG_CANCELLED' } });
  expect(await remains(s.volume)).toEqual([]);
}

describe('K090: cancelling', () => {
  it('before the fence: the task never begins', async () => {
    using s = await scene();
    const ref = task(1);
    expect(await cancel(s, ref)).toMatchObject({
      state: 'cancelled',
      problem: { code: 'HG_CANCELLED', stage: 'cancel' },
    });
    await expectCancelled(s, ref);
  });

  const frozen: Checkpoint[] = ['clone-write-begun', 'clone-written'];
  it.each(frozen)('while another process is at %s: nothing is left, and it cannot seal', async (checkpoint) => {
    using s = await scene();
    const ref = task(1);
    const writer = startEngine(
      'clone',
      { root: s.volume.root, request: s.cloneRequest(ref) },
      { checkpoint, signal: 'SIGSTOP' },
    );
    await writer.at;
    const began = performance.now();
    expect(await cancel(s, ref)).toMatchObject({ state: 'cancelled' });
    expect(performance.now() - began).toBeLessThan(2000);
    expect(await remains(s.volume)).toEqual([]);
    writer.kill('SIGCONT');
    expect((await writer.end).error?.code).toMatch(/^HG_/);
    await expectCancelled(s, ref);
  });

  it('leaves what is to be removed to a sweep, so that it ends at once whatever was written', async () => {
    using s = await scene();
    const ref = task(1);
    await cloneToStaging(s.volume, s.cloneRequest(ref), context());
    const lane = { task: ref, mirror: s.mirror };
    expect(await cancelTask(s.volume, lane, { ...context(), leaveTrash: true })).toMatchObject({ state: 'cancelled' });
    expect((await readdir(s.volume.paths.folder('trash'))).length).toBeGreaterThan(0);
    expect(await readdir(s.volume.paths.folder('staging'))).toEqual([]);
    expect(await sweepTrash(s.volume)).toBeGreaterThan(0);
    await expectCancelled(s, ref);
  });

  it('in the middle of writing: the writer stops by itself, its directory has gone', async () => {
    using s = await scene();
    const ref = task(1);
    const path = s.dir.join('large.hg');
    writeSyntheticBundle(path, { files: 3000, fileSize: 2000 });
    const writer = startEngine('clone', { root: s.volume.root, request: s.cloneRequest(ref, path) });
    const data = s.volume.paths.staging(`${ref.id}.1/.hg/store/data`);
    await waitFor(async () => (await readdir(data).catch(() => [])).length > 2, { interval: 1 });
    // So that it does not end before the cancel, however fast this machine is.
    writer.kill('SIGSTOP');
    expect(await cancel(s, ref)).toMatchObject({ state: 'cancelled' });
    expect(await remains(s.volume)).toEqual([]);
    writer.kill('SIGCONT');
    expect((await writer.end).error?.code).toBe('HG_CANCELLED');
    await expectCancelled(s, ref);
  });

  it('by the signal: the writer throws, and the close settles it', async () => {
    using s = await scene();
    const ref = task(1);
    const controller = new AbortController();
    const ctx = context({
      signal: controller.signal,
      checkpoint: (name) => void (name === 'clone-write-begun' && controller.abort()),
    });
    await expect(cloneToStaging(s.volume, s.cloneRequest(ref), ctx)).rejects.toThrow();
    const settled = await closeTask(s.volume, s.closeRequest(ref, undefined, { cancelled: true }), context());
    expect(settled).toMatchObject({ state: 'cancelled' });
    await expectCancelled(s, ref);
  });

  it('when sealed: what was written goes', async () => {
    using s = await scene();
    const ref = task(1);
    const written = await cloneToStaging(s.volume, s.cloneRequest(ref), context());
    expect(await cancel(s, ref)).toMatchObject({ state: 'cancelled' });
    expect(await closeTask(s.volume, s.closeRequest(ref, written), context())).toMatchObject({ state: 'cancelled' });
    await expectCancelled(s, ref);
  });

  it('when a child says that it was cancelled: the same end', async () => {
    using s = await scene();
    const ref = task(1);
    const childProblem = { code: 'HG_CANCELLED', message: '' };
    expect(await closeTask(s.volume, s.closeRequest(ref, undefined, { childProblem }), context())).toMatchObject({
      state: 'cancelled',
    });
    await expectCancelled(s, ref);
  });

  it('when settled: the recorded end, for one that was published and one that failed', async () => {
    using s = await scene();
    const [first, second] = [task(1), task(2)];
    await s.publish(first);
    expect(await cancel(s, first)).toMatchObject({ state: 'ready', generation: 1 });
    await closeTask(s.volume, s.closeRequest(second, undefined), context());
    expect(await cancel(s, second)).toMatchObject({ state: 'failed', problem: { code: 'HG_WORKER_LOST' } });
    expect(await remains(s.volume)).toEqual(only(s.mirror, 1));
  });

  it('of a task whose lane has gone on: what it has shown stays, the later one is not disturbed', async () => {
    using s = await scene();
    const [first, second] = [task(1), task(2)];
    await s.publish(first);
    const written = await cloneToStaging(s.volume, s.cloneRequest(second, s.bundle('second')), context());
    expect(await cancel(s, first)).toMatchObject({ state: 'ready', generation: 1 });
    expect(await cancel(s, task(1))).toMatchObject({ state: 'failed', problem: { code: 'HG_FENCED' } });
    expect(await closeTask(s.volume, s.closeRequest(second, written), context())).toMatchObject({ state: 'ready' });
    expect(await remains(s.volume)).toEqual(only(s.mirror, 1, 2));
  });

  it('of a retire that has begun finishes it; before that the mirror stays', async () => {
    using s = await scene();
    await s.publish(task(1));
    const early = task(2);
    expect(await cancel(s, early)).toMatchObject({ state: 'cancelled' });
    const retire = (ref: ReturnType<typeof task>) => s.closeRequest(ref, undefined, { action: 'retire' });
    expect(await closeTask(s.volume, retire(early), context())).toMatchObject({ state: 'cancelled' });
    expect(await remains(s.volume)).toEqual(only(s.mirror, 1));
    const begun = task(3);
    await runEngine('close', { root: s.volume.root, request: retire(begun) }, { checkpoint: 'retire-link-removed' });
    expect(await cancel(s, begun)).toEqual({ state: 'ready' });
    expect(await remains(s.volume)).toEqual([]);
  });

  it('tells the end before it removes what was written', async () => {
    using s = await scene();
    const ref = task(1);
    await cloneToStaging(s.volume, s.cloneRequest(ref), context());
    let seen: string[] | undefined;
    let pending: Promise<void> | undefined;
    await cancelTask(
      s.volume,
      { task: ref, mirror: s.mirror },
      {
        ...context(),
        onSettled: () => {
          pending = remains(s.volume).then((found) => {
            seen = found;
          });
        },
      },
    );
    await pending;
    expect(seen?.every((path) => path.startsWith('trash/'))).toBe(true);
    expect(await remains(s.volume)).toEqual([]);
  });
});
