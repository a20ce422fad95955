import { stat } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { faultRecord, HgError } from '@quicksilver/hg-types';
import { cloneToStaging } from '../src/clone.ts';
import { closeTask } from '../src/close.ts';
import { takeFence } from '../src/fences.ts';
import { readLane } from '../src/lane/lane.ts';
import { only, remains, scene, task } from './support/scene.ts';
import { codeOf, context } from './support/volume.ts';

describe('two attempts of one task', () => {
  it('the one that was overtaken does not end the task: its close is run again until the other has ended it', async () => {
    using s = await scene();
    const ref = task(1);
    await takeFence(s.volume, { task: ref, mirror: s.mirror }, context());
    const overtaken = { ...faultRecord(new HgError('HG_FENCED', 'the attempt was overtaken', {})), stage: 'write' };
    const close = () =>
      closeTask(s.volume, s.closeRequest(ref, undefined, { childProblem: overtaken }), context({ lockDuration: 1000 }));
    expect(await codeOf(close())).toBe('HG_LOCKED');
    const written = await cloneToStaging(s.volume, s.cloneRequest(ref), context());
    expect(await codeOf(close())).toBe('HG_LOCKED');
    await closeTask(s.volume, s.closeRequest(ref, written), context());
    expect(await close()).toMatchObject({ state: 'ready', generation: 1 });
    expect(await remains(s.volume)).toEqual(only(s.mirror, 1));
  });
});

describe('a lane', () => {
  it('has the room for its next record from the start, so that a full disk does not keep a task from ending', async () => {
    using s = await scene();
    await takeFence(s.volume, { task: task(1), mirror: s.mirror }, context());
    expect(await readLane(s.volume, s.mirror)).toMatchObject({ fence: 1 });
    const { blocks, size } = await stat(s.volume.paths.lane(s.mirror));
    expect(blocks * 512).toBeGreaterThanOrEqual(size);
  });
});
