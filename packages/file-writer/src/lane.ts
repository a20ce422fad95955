import { close } from 'node:fs';
import type { Batch } from './batch.ts';
import { BatchWriter, type BatchWriterOptions, type CloseLine, type Tally, type WriterTally } from './batch-writer.ts';
import { EngineThread } from './engine-thread.ts';
import type { Halt } from './halt.ts';
import type { SharedBlocks } from './shared-blocks.ts';
import { COUNTER, COUNTER_BYTES, type WriteCommand, type WriteReply, type WriteThreadData } from './write-messages.ts';

/** A writer as the engine sees it: batches go in, in order. */
export interface Lane extends AsyncDisposable {
  send(batch: Batch, cost: number): void;
  /** Cost of what was sent and is not written yet. */
  readonly pending: number;
  /** What is written so far; in a thread a hint that lags behind. */
  readonly written: Tally;
  /** All that was sent is written. */
  finish(): Promise<WriterTally>;
}

export interface LaneOptions {
  readonly blocks: SharedBlocks;
  readonly writer: BatchWriterOptions;
  readonly halt: Halt;
  readonly closing?: CloseLine | undefined;
}

/** Above this a file, in milliseconds, it is the disk that waits, and the caller should not wait with it. */
const QUICK = 0.25;
const FIRST_REST = 8;

/** Writes at once, on the thread that calls: for inputs too small to be worth a thread, and to help where one is. */
export class InlineLane implements Lane {
  readonly #writer: BatchWriter;
  readonly pending = 0;
  /** After a slow batch so many chances to help are let pass; twice as many each time. */
  #rest = 0;
  #nextRest = FIRST_REST;

  constructor({ blocks, writer, closing }: LaneOptions) {
    this.#writer = new BatchWriter(blocks, writer, closing);
  }

  send(batch: Batch): void {
    const started = performance.now();
    this.#writer.run(batch);
    const quick = performance.now() - started <= QUICK * batch.paths.length;
    this.#rest = quick ? 0 : this.#nextRest;
    this.#nextRest = quick ? FIRST_REST : this.#nextRest * 2;
  }

  /** Whether to help now, asked at each chance. One slow batch may be chance too, so it is tried again. */
  takesChance(): boolean {
    if (this.#rest === 0) return true;
    this.#rest--;
    return false;
  }

  get written(): Tally {
    return this.#writer.tally;
  }

  finish(): Promise<WriterTally> {
    return Promise.resolve(this.#writer.report);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#writer[Symbol.dispose]();
    return Promise.resolve();
  }
}

const ENTRY = new URL(import.meta.url.endsWith('.ts') ? './write-thread.ts' : './write-thread.js', import.meta.url);

/** Writes in a thread of its own, started at once; batches sent before it runs wait in its queue. */
export class ThreadLane implements Lane {
  readonly #thread: EngineThread<WriteCommand, WriteReply>;
  readonly #halt: Halt;
  readonly #counts: Float64Array;
  readonly #tally = Promise.withResolvers<WriterTally>();
  #sent = 0;

  constructor({ blocks, writer, halt, closing }: LaneOptions, number: number) {
    this.#halt = halt;
    const counters = new SharedArrayBuffer(COUNTER_BYTES);
    this.#counts = new Float64Array(counters);
    this.#counts[COUNTER.fd] = -1;
    const workerData: WriteThreadData = {
      blocks: blocks.handle,
      options: writer,
      counters,
      closing: closing && { queue: closing.queue.handle, watch: closing.onSlow !== undefined },
    };
    this.#tally.promise.catch(() => {}); // reported by finish, if anybody asks
    halt.signal.addEventListener('abort', () => this.#tally.reject(halt.error), { once: true });
    this.#thread = new EngineThread({
      entry: ENTRY,
      name: `writer ${number}`,
      workerData,
      halt,
      sharesDescriptors: closing !== undefined,
      onMessage: (message) => {
        if (message.kind === 'slow') {
          closing?.onSlow?.(message.median);
          return;
        }
        this.#thread.done();
        this.#tally.resolve(message.tally);
      },
    });
  }

  send(batch: Batch, cost: number): void {
    this.#sent += cost;
    this.#thread.post({ kind: 'batch', batch, cost });
  }

  get pending(): number {
    return this.#sent - (this.#counts[COUNTER.cost] ?? 0);
  }

  get written(): Tally {
    return { files: this.#counts[COUNTER.files] ?? 0, bytes: this.#counts[COUNTER.bytes] ?? 0 };
  }

  finish(): Promise<WriterTally> {
    this.#halt.check();
    this.#thread.post({ kind: 'finish' });
    return this.#tally.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread[Symbol.asyncDispose]();
    const fd = this.#counts[COUNTER.fd] ?? -1;
    if (fd !== -1 && this.#thread.exited) close(fd, () => {}); // it was ended by force
  }
}
