import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { waitFor } from '@quicksilver/testing';
import { flushVolume } from '../src/flush.ts';
import { testVolume } from './support/volume.ts';

const signal = new AbortController().signal;

/** A flush that ends when it is told to. */
function heldSync() {
  const waiting: { resolve: () => void; reject: (err: Error) => void }[] = [];
  const sync = (): Promise<void> => new Promise((resolve, reject) => waiting.push({ resolve, reject }));
  return { waiting, sync };
}

describe('the flush of a volume', () => {
  it('is shared by all that waited when it began, and by nobody who came later', async () => {
    using test = await testVolume();
    const { waiting, sync } = heldSync();
    const flush = () => flushVolume(test.volume, { signal, patience: 60_000, sync });
    const first = flush();
    await waitFor(() => waiting.length === 1);
    // These come while the first is under way: it does not cover them, one more flush covers all three.
    const later = [flush(), flush(), flush()];
    await new Promise((resolve) => setTimeout(resolve, 30));
    waiting[0]?.resolve();
    expect(await first).toEqual({ shared: false });
    await waitFor(() => waiting.length === 2);
    await new Promise((resolve) => setTimeout(resolve, 30));
    waiting[1]?.resolve();
    const shared = (await Promise.all(later)).filter((end) => end.shared);
    expect(shared).toHaveLength(2);
    expect(waiting.length).toBe(2);
  });

  it('that failed covers nobody: whoever waited flushes again', async () => {
    using test = await testVolume();
    const { waiting, sync } = heldSync();
    const flush = () => flushVolume(test.volume, { signal, patience: 60_000, sync });
    const blocker = flush();
    await waitFor(() => waiting.length === 1);
    const [first, second] = [flush(), flush()];
    await new Promise((resolve) => setTimeout(resolve, 30));
    waiting[0]?.resolve();
    await blocker;
    await waitFor(() => waiting.length === 2);
    waiting[1]?.reject(new Error('write-back failed'));
    await waitFor(() => waiting.length === 3);
    waiting[2]?.resolve();
    const ends = await Promise.allSettled([first, second]);
    expect(ends.map((end) => end.status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('does not wait for ever behind one that hangs', async () => {
    using test = await testVolume();
    const { waiting, sync } = heldSync();
    const hanging = flushVolume(test.volume, { signal, patience: 60_000, sync });
    await waitFor(() => waiting.length === 1);
    expect(await flushVolume(test.volume, { signal, patience: 20, sync: async () => {} })).toEqual({ shared: false });
    waiting[0]?.resolve();
    await hanging;
  });

  it('shares nothing where the ticket cannot be read', async () => {
    using test = await testVolume();
    let flushes = 0;
    const sync = async () => void flushes++;
    for (const content of [
      Buffer.from('nonsense of thirty-two bytes at the least'),
      Buffer.alloc(10),
      Buffer.alloc(32, 0xff),
    ]) {
      await writeFile(test.volume.paths.flushTicket, content);
      expect(await flushVolume(test.volume, { signal, patience: 1000, sync })).toEqual({ shared: false });
    }
    expect(flushes).toBe(3);
  });

  it('really flushes', async () => {
    using test = await testVolume();
    expect(await flushVolume(test.volume, { signal, patience: 1000 })).toEqual({ shared: false });
  });
});
