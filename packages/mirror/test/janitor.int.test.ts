import { mkdir, readdir, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { cloneToStaging } from '../src/clone.ts';
import { closeTask } from '../src/close.ts';
import { takeFence } from '../src/fences.ts';
import { type JanitorOptions, runJanitor } from '../src/janitor.ts';
import { Lane } from '../src/lane/lane.ts';
import { readMirror } from '../src/scan.ts';
import { only, remains, type Scene, scene, task } from './support/scene.ts';
import { context } from './support/volume.ts';

const { signal } = new AbortController();
const DAY = 86_400_000;
const sweep = (s: Scene, more: Partial<JanitorOptions> = {}) => runJanitor(s.volume, { signal, graceMs: 0, ...more });

describe('the janitor', () => {
  it('removes nothing of a live attempt, whether it writes or is sealed, at any grace', async () => {
    using s = await scene();
    const ref = task(1);
    const attempt = await takeFence(s.volume, { task: ref, mirror: s.mirror }, context());
    await writeFile(s.volume.paths.staging(`${attempt.staging}/half`), 'x');
    const before = await remains(s.volume);
    expect(await sweep(s)).toMatchObject({ staging: 0, generations: 0, trash: 0 });
    expect(await remains(s.volume)).toEqual(before);

    const written = await cloneToStaging(s.volume, s.cloneRequest(ref), context());
    const sealed = await remains(s.volume);
    expect(await sweep(s)).toMatchObject({ staging: 0 });
    expect(await remains(s.volume)).toEqual(sealed);
    expect(await closeTask(s.volume, s.closeRequest(ref, written), context())).toMatchObject({ state: 'ready' });
  });

  it('removes what attempts of settled and of unknown tasks left', async () => {
    using s = await scene();
    const first = task(1);
    await s.publish(first);
    for (const name of [`${first.id}.7`, `${task(1).id}.1`])
      await mkdir(s.volume.paths.staging(`${name}/.hg`), { recursive: true });
    for (const suffix of ['receipt', 'link', 'part', 'write.json'])
      await writeFile(s.volume.paths.staging(`${first.id}.7.${suffix}`), '');
    expect(await sweep(s)).toMatchObject({ staging: 6, problems: [] });
    expect(await remains(s.volume)).toEqual(only(s.mirror, 1));
  });

  it('asks before it takes a task that no lane knows for dead', async () => {
    using s = await scene();
    const unknown = task(1);
    await mkdir(s.volume.paths.staging(`${unknown.id}.1`));
    expect(await sweep(s, { isTaskAlive: (id) => id === unknown.id })).toMatchObject({ staging: 0 });
    expect(await sweep(s, { isTaskAlive: () => false })).toMatchObject({ staging: 1 });
  });

  it('leaves staging alone when a lane cannot be read, and says so', async () => {
    using s = await scene();
    await s.publish(task(1));
    await writeFile(s.volume.paths.lane('broken'), Buffer.alloc(40_000, 1));
    await mkdir(s.volume.paths.staging(`${task(1).id}.1`));
    const report = await sweep(s);
    expect(report).toMatchObject({ staging: 0, problems: [expect.stringContaining('broken')] });
  });

  it('keeps a superseded generation for its grace, counted from when it went out of sight', async () => {
    using s = await scene();
    await s.publish(task(1));
    await s.publish(task(2), s.bundle('second'));
    const third = await s.publish(task(3), s.bundle('third'));
    const published = Date.parse(third.receipt?.times.published ?? '');
    expect(await sweep(s, { graceMs: DAY, now: published + DAY - 1000 })).toMatchObject({ generations: 0 });
    expect(await remains(s.volume)).toEqual(only(s.mirror, 1, 2, 3));
    expect(await sweep(s, { graceMs: DAY, now: published + DAY })).toMatchObject({ generations: 2 });
    expect(await remains(s.volume)).toEqual(only(s.mirror, 3));
    // The one that is shown never goes, however old.
    expect(await sweep(s, { now: published + 1000 * DAY })).toMatchObject({ generations: 0 });
    expect(await remains(s.volume)).toEqual(only(s.mirror, 3));
  });

  it('removes halves of publications: receipts without repository, repositories without receipt', async () => {
    using s = await scene();
    await s.publish(task(1));
    await s.publish(task(2), s.bundle('second'));
    await rm(s.volume.paths.generation(s.mirror, 1), { recursive: true });
    await mkdir(s.volume.paths.generation(s.mirror, 7));
    await writeFile(s.volume.paths.receipt(s.mirror, 8), '{}');
    expect(await sweep(s, { graceMs: DAY })).toMatchObject({ generations: 3 });
    expect(await remains(s.volume)).toEqual(only(s.mirror, 2));
  });

  it('leaves a mirror alone that is worked on, and takes it up again later', async () => {
    using s = await scene();
    await s.publish(task(1));
    await s.publish(task(2), s.bundle('second'));
    {
      await using _held = await Lane.acquire(s.volume, s.mirror, { signal, lockDuration: 30_000 });
      expect(await sweep(s)).toMatchObject({ generations: 0, busy: [s.mirror] });
    }
    await cloneToStaging(s.volume, s.cloneRequest(task(3)), context());
    expect(await sweep(s)).toMatchObject({ generations: 0, busy: [s.mirror] });
    expect((await readMirror(s.volume, s.mirror)).generations).toEqual([1, 2]);
  });

  it('keeps generations whose link somebody has removed, and says so', async () => {
    using s = await scene();
    await s.publish(task(1));
    await unlink(s.volume.paths.link(s.mirror));
    const report = await sweep(s);
    expect(report).toMatchObject({ generations: 0, problems: [expect.stringContaining('no link')] });
    expect((await readMirror(s.volume, s.mirror)).generations).toEqual([1]);
  });

  it('K038: says when a link shows a generation that is not there, and removes nothing else', async () => {
    using s = await scene();
    await s.publish(task(1));
    await rm(s.volume.paths.generation(s.mirror, 1), { recursive: true });
    expect((await sweep(s)).problems).toEqual([expect.stringContaining('not there')]);
    expect(await readMirror(s.volume, s.mirror)).toMatchObject({ path: undefined, generation: undefined });
    // Cloning again repairs it.
    expect(await s.publish(task(2))).toMatchObject({ state: 'ready', generation: 2 });
  });

  it('empties trash and empty folders, and leaves what is not ours', async () => {
    using s = await scene();
    await s.publish(task(1));
    await mkdir(join(s.volume.root, 'trash', 'x', 'y'), { recursive: true });
    await writeFile(join(s.volume.root, 'trash', 'z'), '');
    await mkdir(join(s.volume.root, 'mirrors', 'empty', 'deep'), { recursive: true });
    await symlink('/nowhere', join(s.volume.root, 'mirrors', 'foreign'));
    await writeFile(s.volume.paths.staging('notes.txt'), '');
    const report = await sweep(s);
    expect(report).toMatchObject({ trash: 2, folders: 2, problems: [expect.stringContaining('notes.txt')] });
    expect(await readdir(join(s.volume.root, 'mirrors'))).toEqual(expect.arrayContaining(['foreign', 'mozilla']));
  });

  it('may run many times at once, next to clones and closes, and disturbs none of them', async () => {
    using s = await scene();
    let running = true;
    const janitors = Array.from({ length: 2 }, async () => {
      while (running) await sweep(s);
    });
    for (let n = 1; n <= 6; n++) {
      const settled = await s.publish(task(n), s.bundle(`n${n}`));
      expect(settled).toMatchObject({ state: 'ready', generation: n });
    }
    running = false;
    await Promise.all(janitors);
    await sweep(s);
    expect(await remains(s.volume)).toEqual(only(s.mirror, 6));
  });
});
