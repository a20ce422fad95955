import { open, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { waitFor } from '@quicksilver/testing';
import { Lane, type LaneUpdate, readLane } from '../../src/lane/lane.ts';
import type { LockWait } from '../../src/lane/lock-file.ts';
import type { Volume } from '../../src/volume.ts';
import { codeOf, task, testVolume } from '../support/volume.ts';

const signal = new AbortController().signal;
const options = { signal, lockDuration: 30_000 };
const update = (fence: number): LaneUpdate => ({
  task: { id: 'task', number: 1 },
  action: 'clone',
  fence,
  state: 'writing',
  lastGeneration: 0,
});

async function record(volume: Volume, fences: readonly number[]): Promise<void> {
  await using lane = await Lane.acquire(volume, 'a/b', options);
  for (const fence of fences) await lane.write(update(fence));
}

const SLOT = 16_384;
const slotOf = (writes: number): number => (writes % 2) * SLOT;

describe('a lane', () => {
  it('remembers the last record across processes and holders', async () => {
    using test = await testVolume();
    expect(await readLane(test.volume, 'a/b')).toBeUndefined();
    await record(test.volume, [1]);
    await record(test.volume, [2, 3]);
    expect(await readLane(test.volume, 'a/b')).toMatchObject({ mirror: 'a/b', fence: 3, state: 'writing' });
  });

  it('falls back to the record before when the last write was torn, at any byte', async () => {
    using test = await testVolume();
    await record(test.volume, [1, 2]);
    const path = test.volume.paths.lane('a/b');
    const before = await readFile(path);
    await record(test.volume, [3]);
    const after = await readFile(path);
    const start = slotOf(3);
    for (const cut of [1, 7, 8, 11, 12, 43, 44, 45, 100, 200]) {
      const torn = Buffer.from(before);
      after.copy(torn, start, start, start + cut);
      await writeFile(path, torn);
      expect(await readLane(test.volume, 'a/b')).toMatchObject({ fence: 2 });
    }
    // The next write goes over the torn slot, never over the one that can be read.
    await record(test.volume, [4]);
    expect(await readLane(test.volume, 'a/b')).toMatchObject({ fence: 4 });
  });

  it('has no record when its very first write was torn', async () => {
    using test = await testVolume();
    await record(test.volume, [1]);
    const file = await open(test.volume.paths.lane('a/b'), 'r+');
    await file.write(Buffer.alloc(50), 0, 50, slotOf(1) + 60);
    await file.close();
    expect(await readLane(test.volume, 'a/b')).toBeUndefined();
    await record(test.volume, [5]);
    expect(await readLane(test.volume, 'a/b')).toMatchObject({ fence: 5 });
  });

  it('says so when neither record can be read, instead of beginning again at fence one', async () => {
    using test = await testVolume();
    await record(test.volume, [1, 2]);
    const file = await open(test.volume.paths.lane('a/b'), 'r+');
    await file.write(Buffer.from('xx'), 0, 2, 100);
    await file.write(Buffer.from('xx'), 0, 2, SLOT + 100);
    await file.close();
    expect(await codeOf(readLane(test.volume, 'a/b'))).toBe('HG_IO');
    expect(await codeOf(Lane.acquire(test.volume, 'a/b', options))).toBe('HG_IO');
  });

  it('refuses the record of a newer version', async () => {
    using test = await testVolume();
    await record(test.volume, [1]);
    const lane = await Lane.acquire(test.volume, 'a/b', options);
    const { encodeFrame } = await import('../../src/lane/frame.ts');
    await lane[Symbol.asyncDispose]();
    const file = await open(test.volume.paths.lane('a/b'), 'r+');
    const frame = encodeFrame(JSON.stringify({ seq: 2, record: { v: 2 } }));
    await file.write(frame, 0, frame.length, slotOf(2));
    await file.close();
    expect(await codeOf(readLane(test.volume, 'a/b'))).toBe('HG_UNSUPPORTED');
  });

  it('is held by one at a time; the other waits, is told the holder, and gets it when it is given back', async () => {
    using test = await testVolume();
    const first = await Lane.acquire(test.volume, 'a/b', options);
    const waits: LockWait[] = [];
    const second = Lane.acquire(test.volume, 'a/b', { ...options, onWait: (wait) => waits.push(wait) });
    await waitFor(() => waits.length > 0);
    expect(await Lane.tryAcquire(test.volume, 'a/b')).toBeUndefined();
    expect(waits).toEqual([{ holder: expect.objectContaining({ pid: process.pid }), killed: false }]);
    await first.write(update(7));
    await first[Symbol.asyncDispose]();
    await using lane = await second;
    expect(lane.record).toMatchObject({ fence: 7 });
  });

  it('never ends its own process, however long it has been held', async () => {
    using test = await testVolume();
    await using _held = await Lane.acquire(test.volume, 'a/b', options);
    const controller = new AbortController();
    const waiting = Lane.acquire(test.volume, 'a/b', { signal: controller.signal, lockDuration: 0 });
    setTimeout(() => controller.abort(), 80);
    await expect(waiting).rejects.toThrow();
  });

  it('stops waiting when it is told to', async () => {
    using test = await testVolume();
    await using _held = await Lane.acquire(test.volume, 'a/b', options);
    await expect(Lane.acquire(test.volume, 'a/b', { ...options, signal: AbortSignal.timeout(30) })).rejects.toThrow();
    await expect(Lane.acquire(test.volume, 'a/b', { ...options, signal: AbortSignal.abort() })).rejects.toThrow();
  });

  it('keeps its file: size and inode stay, whatever is written', async () => {
    using test = await testVolume();
    await record(test.volume, [1]);
    const before = await stat(test.volume.paths.lane('a/b'));
    await record(
      test.volume,
      Array.from({ length: 20 }, (_, i) => i + 2),
    );
    const after = await stat(test.volume.paths.lane('a/b'));
    expect(after.ino).toBe(before.ino);
    expect(after.size).toBe(2 * SLOT + 1024);
  });

  it('can be read by anyone at any time while it is written', async () => {
    using test = await testVolume();
    await record(test.volume, [1]);
    const writing = record(
      test.volume,
      Array.from({ length: 60 }, (_, i) => i + 2),
    );
    let last = 0;
    for (let looks = 0; looks < 60; looks++) {
      const fence = (await readLane(test.volume, 'a/b'))?.fence ?? 0;
      expect(fence).toBeGreaterThanOrEqual(last);
      last = fence;
    }
    await writing;
  });

  it('is not mistaken for the lane of another name on a file system that folds names', async () => {
    using test = await testVolume();
    await record(test.volume, [1]);
    const { link } = await import('node:fs/promises');
    await link(test.volume.paths.lane('a/b'), test.volume.paths.lane('A/b'));
    expect(await codeOf(Lane.acquire(test.volume, 'A/b', options))).toBe('HG_EXISTS');
  });

  it('has no record in a file that was cut to nothing, and none in a file of zeros', async () => {
    using test = await testVolume();
    await record(test.volume, [1]);
    await truncate(test.volume.paths.lane('a/b'), 0);
    expect(await readLane(test.volume, 'a/b')).toBeUndefined();
    expect(task(1).number).toBe(1);
  });
});
