import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { SharedBlocks } from '../src/shared-blocks.ts';

describe('shared blocks', () => {
  it('gives each block once until its last reference is dropped, also through another handle', () => {
    const blocks = SharedBlocks.create({ blockSize: 16, count: 2 });
    const other = SharedBlocks.attach(blocks.handle);
    expect([blocks.tryAcquire(), other.tryAcquire(), blocks.tryAcquire()]).toEqual([0, 1, undefined]);
    blocks.retain(0, 2);
    blocks.release(0);
    other.release(0);
    expect(blocks.tryAcquire()).toBeUndefined();
    other.release(0);
    expect(blocks.tryAcquire()).toBe(0);
    expect([blocks.inUse, blocks.peak]).toEqual([2, 2]);
    other.view(1)[3] = 9;
    expect(blocks.view(1)[3]).toBe(9);
  });

  it('wakes who waits for a block when one is freed', async () => {
    const blocks = SharedBlocks.create({ blockSize: 16, count: 1 });
    expect(await blocks.acquire()).toBe(0);
    const waiting = blocks.acquire();
    await sleep(5);
    blocks.release(0);
    expect(await waiting).toBe(0);
  });

  it('wakes everybody who waits when it is stopped, and gives nothing afterwards', async () => {
    const blocks = SharedBlocks.create({ blockSize: 16, count: 1 });
    blocks.tryAcquire();
    const waiting = [blocks.acquire(), blocks.acquire()];
    await sleep(5);
    blocks.stop();
    expect(await Promise.all(waiting)).toEqual([undefined, undefined]);
    expect(await blocks.acquire()).toBeUndefined();
  });

  it('refuses a second release and impossible sizes', () => {
    const blocks = SharedBlocks.create({ blockSize: 16, count: 1 });
    expect(() => blocks.release(0)).toThrow(expect.objectContaining({ code: 'HG_INTERNAL' }));
    for (const geometry of [
      { blockSize: 0, count: 2 },
      { blockSize: 1 << 30, count: 2 },
      { blockSize: 1.5, count: 2 },
      { blockSize: 1 << 26, count: 1000 },
    ]) {
      expect(() => SharedBlocks.create(geometry)).toThrow(expect.objectContaining({ code: 'HG_USAGE' }));
    }
  });
});
