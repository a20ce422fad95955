import { rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { cloneToStaging } from '../src/clone.ts';
import { closeTask } from '../src/close.ts';
import { type MirrorFacts, readMirror, scanVolume } from '../src/scan.ts';
import { Volume } from '../src/volume.ts';
import { scene, task } from './support/scene.ts';
import { context } from './support/volume.ts';

async function scan(volume: Volume): Promise<MirrorFacts[]> {
  const found: MirrorFacts[] = [];
  for await (const facts of scanVolume(volume)) found.push(facts);
  return found;
}

describe('scanning a volume', () => {
  it('finds every mirror with what is needed to know it again', async () => {
    using s = await scene();
    const second = task(2);
    await s.publish(task(1));
    await s.publish(second, s.bundle('second'));
    const failed = task(1);
    await closeTask(s.volume, { ...s.closeRequest(failed, undefined), mirror: 'broken' }, context());
    const underWay = task(5);
    await cloneToStaging(s.volume, { ...s.cloneRequest(underWay), mirror: 'a b/ç' }, context());

    const facts = await scan(await Volume.open(s.volume.root));
    expect(facts).toEqual([
      expect.objectContaining({
        name: 'a b/ç',
        generation: undefined,
        lane: expect.objectContaining({ task: underWay, state: 'sealed' }),
      }),
      expect.objectContaining({
        name: 'broken',
        generation: undefined,
        lane: expect.objectContaining({ state: 'settled' }),
      }),
      expect.objectContaining({
        name: s.mirror,
        generation: 2,
        generations: [1, 2],
        path: s.volume.paths.link(s.mirror),
        receipt: expect.objectContaining({ task: second, source: expect.objectContaining({ kind: 'bundle-file' }) }),
        problems: [],
      }),
    ]);
  });

  it('finds nothing in a new volume', async () => {
    using s = await scene();
    expect(await scan(s.volume)).toEqual([]);
    expect(await readMirror(s.volume, 'unknown')).toMatchObject({
      generation: undefined,
      lane: undefined,
      problems: [],
    });
  });

  it('says what does not fit, and reads the rest', async () => {
    using s = await scene();
    await s.publish(task(1));
    await writeFile(s.volume.paths.receipt(s.mirror, 1), 'no json');
    await writeFile(s.volume.paths.lane('damaged'), Buffer.alloc(40_000, 7));
    await symlink('../generations/lost/3', join(s.volume.root, 'mirrors', 'lost'));
    await symlink('/etc', join(s.volume.root, 'mirrors', '.foreign'));
    const facts = await scan(s.volume);
    expect(facts.map(({ name, problems }) => [name, problems.length])).toEqual([
      ['damaged', 1],
      ['lost', 1],
      [s.mirror, 1],
    ]);
    await rm(s.volume.paths.link(s.mirror));
    expect((await readMirror(s.volume, s.mirror)).problems).toEqual([expect.stringContaining('recorded generation 1')]);
  });
});
