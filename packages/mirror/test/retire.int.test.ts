import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { cloneToStaging } from '../src/clone.ts';
import { closeTask } from '../src/close.ts';
import { readLane } from '../src/lane/lane.ts';
import { only, remains, type Scene, scene, task } from './support/scene.ts';
import { context } from './support/volume.ts';

const retire = (s: Scene, ref: ReturnType<typeof task>, mirror = s.mirror) =>
  closeTask(s.volume, { ...s.closeRequest(ref, undefined, { action: 'retire' }), mirror }, context());

describe('retiring', () => {
  it('takes link, generations, bundles and emptied folders away, and keeps the lane', async () => {
    using s = await scene();
    await s.publish(task(1));
    await s.publish(task(2), s.bundle('second'));
    await mkdir(s.volume.paths.bundles(s.mirror));
    await writeFile(join(s.volume.paths.bundles(s.mirror), 'full.hg'), '');
    const ref = task(3);
    expect(await retire(s, ref)).toEqual({ state: 'ready' });
    expect(await remains(s.volume)).toEqual([]);
    expect(await readdir(join(s.volume.root, 'mirrors'))).toEqual([]);
    expect(await readLane(s.volume, s.mirror)).toMatchObject({ state: 'settled', task: ref, lastGeneration: 2 });
    expect(await retire(s, ref)).toEqual({ state: 'ready' });
  });

  it('leaves other mirrors of the same folder', async () => {
    using s = await scene();
    const ref = task(1);
    const written = await cloneToStaging(s.volume, { ...s.cloneRequest(ref), mirror: 'mozilla/beta' }, context());
    await closeTask(s.volume, { ...s.closeRequest(ref, written), mirror: 'mozilla/beta' }, context());
    await s.publish(task(1));
    await retire(s, task(2));
    expect(await remains(s.volume)).toEqual(only('mozilla/beta', 1));
    await retire(s, task(2), 'mozilla/beta');
    expect(await readdir(join(s.volume.root, 'mirrors'))).toEqual([]);
  });

  it('stops an attempt of an earlier task: it is not published any more', async () => {
    using s = await scene();
    const first = task(1);
    const written = await cloneToStaging(s.volume, s.cloneRequest(first), context());
    await retire(s, task(2));
    expect(await closeTask(s.volume, s.closeRequest(first, written), context())).toMatchObject({
      state: 'failed',
      problem: { code: 'HG_FENCED' },
    });
    expect(await remains(s.volume)).toEqual([]);
  });

  it('is not done by a task that a later one has overtaken', async () => {
    using s = await scene();
    const late = task(1);
    await s.publish(task(2));
    expect(await retire(s, late)).toMatchObject({ state: 'failed', problem: { code: 'HG_FENCED' } });
    expect(await remains(s.volume)).toEqual(only(s.mirror, 1));
  });

  it('lets the name be used again, with numbers that go on', async () => {
    using s = await scene();
    await s.publish(task(1));
    await retire(s, task(2));
    expect(await s.publish(task(3))).toMatchObject({ state: 'ready', generation: 2 });
    expect(await remains(s.volume)).toEqual(only(s.mirror, 2));
  });

  it('of a mirror that never was is fine', async () => {
    using s = await scene();
    expect(await retire(s, task(1))).toEqual({ state: 'ready' });
    expect(await remains(s.volume)).toEqual([]);
  });

  it('never disturbs others that publish into the same folder at the same time', async () => {
    using s = await scene();
    const rounds = 8;
    const churn = async (mirror: string): Promise<void> => {
      for (let n = 1; n <= rounds; n++) {
        const ref = task(2 * n - 1);
        const written = await cloneToStaging(s.volume, { ...s.cloneRequest(ref), mirror }, context());
        const settled = await closeTask(s.volume, { ...s.closeRequest(ref, written), mirror }, context());
        expect(settled).toMatchObject({ state: 'ready', generation: n });
        await retire(s, task(2 * n), mirror);
      }
    };
    await Promise.all(['deep/er/a', 'deep/er/b', 'deep/c'].map(churn));
    expect(await remains(s.volume)).toEqual([]);
  });
});
