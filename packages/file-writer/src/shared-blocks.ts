import { HgError } from '@quicksilver/hg-types';

/*
 * A pool of equal blocks in shared memory. One side fills blocks, others hold references to them, and a block
 * whose last reference is dropped is free again. The pool is all the memory that data in flight may take.
 *
 *   free (0 references) --acquire--> 1 --retain--> n --release--> ... --> free, waiters woken
 *
 * State words (Int32, changed only through Atomics): STOPPED, FREED (counts releases to zero: what waiters watch),
 * IN_USE and its highest value PEAK, then one reference count per block.
 */
const STOPPED = 0;
const FREED = 1;
const IN_USE = 2;
const PEAK = 3;
const FIRST_COUNT = 4;

/** A block is read or written by one call: far below 2 GiB, where such calls are cut short. */
const MAX_BLOCK = 64 * 1024 * 1024;
const MAX_POOL = 4 * 1024 * 1024 * 1024;

export interface BlockGeometry {
  readonly blockSize: number;
  readonly count: number;
}

/** What crosses to another thread: plain data and shared memory. */
export interface BlocksHandle extends BlockGeometry {
  readonly state: SharedArrayBuffer;
  readonly data: SharedArrayBuffer;
}

export class SharedBlocks {
  readonly handle: BlocksHandle;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #views: readonly Uint8Array<SharedArrayBuffer>[];

  private constructor(handle: BlocksHandle) {
    this.handle = handle;
    this.#words = new Int32Array(handle.state);
    this.#views = Array.from(
      { length: handle.count },
      (_, i) => new Uint8Array(handle.data, i * handle.blockSize, handle.blockSize),
    );
  }

  static create({ blockSize, count }: BlockGeometry): SharedBlocks {
    const fits = blockSize >= 1 && blockSize <= MAX_BLOCK && count >= 1 && blockSize * count <= MAX_POOL;
    if (!Number.isSafeInteger(blockSize) || !Number.isSafeInteger(count) || !fits) {
      throw new HgError('HG_USAGE', 'the block pool has an impossible size', { blockSize, count });
    }
    return new SharedBlocks({
      blockSize,
      count,
      state: new SharedArrayBuffer((FIRST_COUNT + count) * Int32Array.BYTES_PER_ELEMENT),
      // Pages of it are taken from the system only when a block is first filled.
      data: new SharedArrayBuffer(blockSize * count),
    });
  }

  /** The same pool in another thread. */
  static attach(handle: BlocksHandle): SharedBlocks {
    return new SharedBlocks(handle);
  }

  get blockSize(): number {
    return this.handle.blockSize;
  }

  get count(): number {
    return this.handle.count;
  }

  view(block: number): Uint8Array<SharedArrayBuffer> {
    const view = this.#views[block];
    if (view === undefined) throw new HgError('HG_INTERNAL', 'no such block', { block, count: this.count });
    return view;
  }

  /** A free block, now with one reference; undefined when all are in use. The lowest is taken: it is warm. */
  tryAcquire(): number | undefined {
    for (let block = 0; block < this.count; block++) {
      if (Atomics.compareExchange(this.#words, FIRST_COUNT + block, 0, 1) === 0) {
        const inUse = Atomics.add(this.#words, IN_USE, 1) + 1;
        for (let peak = this.peak; peak < inUse; peak = this.peak) {
          if (Atomics.compareExchange(this.#words, PEAK, peak, inUse) === peak) break;
        }
        return block;
      }
    }
    return undefined;
  }

  /** Waits for a free block without holding the thread; undefined once the pool is stopped. */
  async acquire(): Promise<number | undefined> {
    // Somebody who waits for shared memory does not keep an event loop alive; this timer does.
    let keepAlive: NodeJS.Timeout | undefined;
    try {
      for (;;) {
        const seen = Atomics.load(this.#words, FREED);
        if (this.stopped) return undefined;
        const block = this.tryAcquire();
        if (block !== undefined) return block;
        keepAlive ??= setInterval(() => {}, 60_000);
        const wait = Atomics.waitAsync(this.#words, FREED, seen);
        if (wait.async) await wait.value;
      }
    } finally {
      clearInterval(keepAlive);
    }
  }

  retain(block: number, references = 1): void {
    Atomics.add(this.#words, FIRST_COUNT + block, references);
  }

  release(block: number): void {
    const before = Atomics.sub(this.#words, FIRST_COUNT + block, 1);
    if (before > 1) return;
    if (before < 1) throw new HgError('HG_INTERNAL', 'a block was released twice', { block });
    Atomics.sub(this.#words, IN_USE, 1);
    this.#wake();
  }

  /** Ends every wait, now and later. Blocks keep their contents; nobody gets a new one. */
  stop(): void {
    Atomics.store(this.#words, STOPPED, 1);
    this.#wake();
  }

  get stopped(): boolean {
    return Atomics.load(this.#words, STOPPED) !== 0;
  }

  /** Blocks that are filled or being written now, and the most there ever were. */
  get inUse(): number {
    return Atomics.load(this.#words, IN_USE);
  }

  get peak(): number {
    return Atomics.load(this.#words, PEAK);
  }

  #wake(): void {
    Atomics.add(this.#words, FREED, 1);
    Atomics.notify(this.#words, FREED);
  }
}
