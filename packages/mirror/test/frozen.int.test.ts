import { describe, expect, it } from '@jest/globals';
import { treeHash, waitFor } from '@quicksilver/testing';
import type { Checkpoint } from '../src/checkpoints.ts';
import { cloneToStaging } from '../src/clone.ts';
import { cancelTask, closeTask } from '../src/close.ts';
import { runJanitor } from '../src/janitor.ts';
import { Lane, readLane } from '../src/lane/lane.ts';
import type { LockWait } from '../src/lane/lock-file.ts';
import { startEngine } from './support/child.ts';
import { only, remains, type Scene, scene, task } from './support/scene.ts';
import { context } from './support/volume.ts';

const { signal } = new AbortController();
const sweep = (s: Scene) => runJanitor(s.volume, { signal, graceMs: 0 });

describe('a frozen holder of a lane', () => {
  it('on this host is ended once it has held it longer than the lock duration, not before', async () => {
    using s = await scene();
    const holder = startEngine('hold', { root: s.volume.root, mirror: s.mirror });
    await holder.at;
    holder.kill('SIGSTOP');
    const waits: LockWait[] = [];
    const began = performance.now();
    await using _lane = await Lane.acquire(s.volume, s.mirror, {
      signal,
      lockDuration: 600,
      onWait: (wait) => waits.push(wait),
    });
    expect(performance.now() - began).toBeGreaterThan(100);
    expect((await holder.end).signal).toBe('SIGKILL');
    expect(waits.map(({ killed, holder: who }) => [who?.pid, killed])).toEqual([
      [holder.pid, false],
      [holder.pid, true],
    ]);
  });

  it('that is another process by now is left alone: pid and start time must both agree', async () => {
    using s = await scene();
    const holder = startEngine('hold', { root: s.volume.root, mirror: s.mirror });
    await holder.at;
    // As if this pid had belonged to a process that started at another time.
    const { open } = await import('node:fs/promises');
    const { decodeFrame, encodeFrame } = await import('../src/lane/frame.ts');
    await using file = await open(s.volume.paths.lane(s.mirror), 'r+');
    const area = Buffer.alloc(1024);
    await file.read(area, 0, 1024, 32_768);
    const frame = decodeFrame(area);
    if (frame.kind !== 'whole') throw new Error('no holder');
    const said = JSON.parse(frame.text) as { startTime: number };
    for (const change of [{ startTime: said.startTime + 1 }, { realm: 'another machine' }]) {
      const forged = encodeFrame(JSON.stringify({ ...said, since: 0, ...change }));
      await file.write(forged, 0, forged.length, 32_768);
      const waits: LockWait[] = [];
      const waiting = Lane.acquire(s.volume, s.mirror, {
        signal: AbortSignal.timeout(150),
        lockDuration: 1,
        onWait: (wait) => waits.push(wait),
      });
      await expect(waiting).rejects.toThrow();
      expect(waits.some((wait) => wait.killed)).toBe(false);
    }
    holder.kill('SIGKILL');
    expect((await holder.end).signal).toBe('SIGKILL');
  });
});

/** Where an attempt may be frozen without holding the lane, and with it. */
const outsideLane: Checkpoint[] = ['clone-write-begun', 'clone-written'];
const insideLane: Checkpoint[] = ['clone-fence-taken', 'clone-staging-made', 'clone-write-receipt', 'clone-sealed'];

describe('a frozen attempt', () => {
  it.each(outsideLane)('at %s changes nothing when it wakes after its successor has published', async (checkpoint) => {
    using s = await scene();
    const ref = task(1);
    const request = s.cloneRequest(ref);
    const frozen = startEngine('clone', { root: s.volume.root, request }, { checkpoint, signal: 'SIGSTOP' });
    await frozen.at;
    const written = await cloneToStaging(s.volume, request, context());
    expect(written.fence).toBe(2);
    const settled = await closeTask(s.volume, s.closeRequest(ref, written), context());
    expect(settled).toMatchObject({ state: 'ready', generation: 1 });
    await sweep(s);
    const published = await treeHash(s.volume.root);

    frozen.kill('SIGCONT');
    const end = await frozen.end;
    expect(end.error?.code).toBe('HG_FENCED');
    await sweep(s);
    expect(await remains(s.volume)).toEqual(only(s.mirror, 1));
    // Only the note of who held the lane last may have changed, and that is blank when nobody does.
    expect(await treeHash(s.volume.root)).toBe(published);
  });

  it('in the middle of writing changes nothing when it wakes', async () => {
    using s = await scene();
    const ref = task(1);
    const { writeSyntheticBundle } = await import('@quicksilver/testing');
    const path = s.dir.join('large.hg');
    writeSyntheticBundle(path, { files: 3000, fileSize: 2000 });
    const request = s.cloneRequest(ref, path);
    const frozen = startEngine('clone', { root: s.volume.root, request });
    const { readdir } = await import('node:fs/promises');
    const staging = s.volume.paths.staging(`${ref.id}.1`);
    await waitFor(async () => (await readdir(`${staging}/.hg/store/data`).catch(() => [])).length > 2, { interval: 1 });
    frozen.kill('SIGSTOP');
    const written = await cloneToStaging(s.volume, request, context());
    const settled = await closeTask(s.volume, s.closeRequest(ref, written), context());
    expect(settled).toMatchObject({ state: 'ready' });
    await sweep(s);
    const published = await treeHash(s.volume.root);
    frozen.kill('SIGCONT');
    expect((await frozen.end).error?.code).toBe('HG_FENCED');
    await sweep(s);
    expect(await treeHash(s.volume.root)).toBe(published);
  });

  it.each(insideLane)('at %s, holding the lane, is ended by its successor', async (checkpoint) => {
    using s = await scene();
    const ref = task(1);
    const request = s.cloneRequest(ref);
    const frozen = startEngine('clone', { root: s.volume.root, request }, { checkpoint, signal: 'SIGSTOP' });
    await frozen.at;
    const written = await cloneToStaging(s.volume, request, context({ lockDuration: 100 }));
    expect((await frozen.end).signal).toBe('SIGKILL');
    const settled = await closeTask(s.volume, s.closeRequest(ref, written), context());
    expect(settled).toMatchObject({ state: 'ready', generation: 1 });
    expect(await remains(s.volume)).toEqual(only(s.mirror, 1));
  });
});

const closes: Checkpoint[] = ['close-proved', 'close-flushed'];
const publications: Checkpoint[] = ['close-receipt-durable', 'close-generation-renamed', 'close-link-renamed'];

describe('a frozen close', () => {
  it.each(closes)('at %s finds the recorded end when it wakes', async (checkpoint) => {
    using s = await scene();
    const ref = task(1);
    const written = await cloneToStaging(s.volume, s.cloneRequest(ref), context());
    const request = s.closeRequest(ref, written);
    const frozen = startEngine('close', { root: s.volume.root, request }, { checkpoint, signal: 'SIGSTOP' });
    await frozen.at;
    const settled = await closeTask(s.volume, request, context());
    await sweep(s);
    const published = await treeHash(s.volume.root);
    frozen.kill('SIGCONT');
    expect((await frozen.end).result).toEqual(JSON.parse(JSON.stringify(settled)));
    expect(await treeHash(s.volume.root)).toBe(published);
  });

  it.each(publications)('at %s, holding the lane, is ended and finished by another', async (checkpoint) => {
    using s = await scene();
    const ref = task(1);
    const written = await cloneToStaging(s.volume, s.cloneRequest(ref), context());
    const request = s.closeRequest(ref, written);
    const frozen = startEngine('close', { root: s.volume.root, request }, { checkpoint, signal: 'SIGSTOP' });
    await frozen.at;
    const settled = await closeTask(s.volume, request, context({ lockDuration: 100 }));
    expect((await frozen.end).signal).toBe('SIGKILL');
    expect(settled).toMatchObject({ state: 'ready', generation: 1 });
    await sweep(s);
    expect(await remains(s.volume)).toEqual(only(s.mirror, 1));
  });

  it('cannot publish what was cancelled meanwhile', async () => {
    using s = await scene();
    const ref = task(1);
    const written = await cloneToStaging(s.volume, s.cloneRequest(ref), context());
    const request = s.closeRequest(ref, written);
    const frozen = startEngine(
      'close',
      { root: s.volume.root, request },
      { checkpoint: 'close-flushed', signal: 'SIGSTOP' },
    );
    await frozen.at;
    expect(await cancelTask(s.volume, { task: ref, mirror: s.mirror }, context())).toMatchObject({
      state: 'cancelled',
    });
    frozen.kill('SIGCONT');
    expect((await frozen.end).result).toMatchObject({ state: 'cancelled' });
    expect(await remains(s.volume)).toEqual([]);
    expect(await readLane(s.volume, s.mirror)).toMatchObject({ state: 'settled', outcome: { state: 'cancelled' } });
  });
});
