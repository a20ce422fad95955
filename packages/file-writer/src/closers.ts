import { close } from 'node:fs';
import { HgError } from '@quicksilver/hg-types';
import type { CloseReply, CloseThreadData } from './close-messages.ts';
import { CloseQueue } from './close-queue.ts';
import { EngineThread } from './engine-thread.ts';
import type { Halt } from './halt.ts';
import { type OpenFileBudget, openFileBudget } from './open-files.ts';

export const CLOSER_THREADS = 4;
export const CLOSE_QUEUE = 384;

export interface Closing {
  /** `on`: from the start; `auto`: once close is seen to be slow, and only as long as it is. */
  readonly mode: 'on' | 'auto';
  /** Default 4; left to `auto`, it follows from how slow close is. */
  readonly threads?: number | undefined;
  /** Files that may be open because their close is waited for (default 384). */
  readonly maxQueue?: number | undefined;
  /** How many are expected in all: few are not worth many threads. */
  readonly files?: number | undefined;
}

/** How the closers were used. */
export interface ClosingFacts {
  readonly closers: number;
  readonly maxQueue: number;
  /** Median of the closes that were seen last, before any closer came in; only where that was looked at. */
  readonly closeMilliseconds?: number | undefined;
  readonly why: string;
}

const ENTRY = new URL(import.meta.url.endsWith('.ts') ? './close-thread.ts' : './close-thread.js', import.meta.url);

/** `auto` takes as many as leave about so many milliseconds of close to a file, within the bounds; measured. */
const REST_PER_FILE = 0.06;
const MAX_AUTO_THREADS = 16;
/** A thread takes about 30 ms of CPU to start, as a file takes a slow close: fewer files are not worth one more. */
const FILES_PER_THREAD = 128;
/** What a thread itself opens, less than that; and one file is in its hands. */
const DESCRIPTORS_PER_THREAD = 6;

export interface ClosersOptions {
  readonly halt: Halt;
  /** Threads that open files. */
  readonly writers: number;
  readonly budget?: OpenFileBudget;
}

/** The threads that close for one attempt, and their queue. They come in at the start, or when close is slow. */
export class Closers implements AsyncDisposable {
  readonly queue: CloseQueue;
  readonly #closing: Closing;
  readonly #halt: Halt;
  readonly #budget: OpenFileBudget;
  readonly #threads: EngineThread<never, CloseReply>[] = [];
  readonly #closed: Promise<number>[] = [];
  readonly #maxQueue: number;
  readonly #writers: number;
  #reserved: Disposable | undefined;
  #median: number | undefined;
  #why = '';
  #ended = false;

  constructor(closing: Closing, { halt, writers, budget = openFileBudget }: ClosersOptions) {
    this.#closing = closing;
    this.#halt = halt;
    this.#budget = budget;
    this.#writers = writers;
    this.#maxQueue = closing.maxQueue ?? CLOSE_QUEUE;
    this.queue = CloseQueue.create(this.#maxQueue);
    if (closing.mode === 'on') this.#start(closing.threads ?? CLOSER_THREADS, 'as asked');
  }

  /** A writer found close to be slow: the median of what it saw. Heard once; the closers then come and go by themselves. */
  slow(median: number): void {
    if (this.#ended || this.#median !== undefined || this.#closing.mode === 'on') return;
    this.#median = median;
    const { threads, files = Number.POSITIVE_INFINITY } = this.#closing;
    const useful = Math.min(MAX_AUTO_THREADS, Math.ceil(median / REST_PER_FILE), Math.ceil(files / FILES_PER_THREAD));
    this.#start(threads ?? Math.max(CLOSER_THREADS, useful), `close took ${median.toFixed(2)} ms (median of 64)`);
  }

  /** `seen`: the median of what the writers saw at last, where it never became slow. */
  facts(seen: number | undefined): ClosingFacts {
    const closeMilliseconds = this.#median ?? seen;
    const fast = seen === undefined ? 'too few closes to tell' : `close is fast: ${seen.toFixed(3)} ms (median)`;
    return {
      closers: this.#threads.length,
      maxQueue: this.#threads.length === 0 ? 0 : this.queue.limit,
      ...(closeMilliseconds === undefined ? {} : { closeMilliseconds }),
      why: this.#why === '' ? fast : this.#why,
    };
  }

  /** All writers have ended. How many files were closed here, once all are. */
  async finish(): Promise<number> {
    this.#ended = true;
    this.queue.end();
    const closed = await Promise.all(this.#closed);
    return closed.reduce((a, b) => a + b, 0);
  }

  /** Files in the queue are closed also when the attempt has failed: nothing stays open. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended = true;
    this.queue.active = false;
    this.queue.end();
    await Promise.all(this.#threads.map((thread) => thread[Symbol.asyncDispose]()));
    // Closers that were ended by force have left some; a close that hangs must not hang this thread.
    for (let file = this.queue.tryTake(); file !== undefined; file = this.queue.tryTake()) {
      close(file.fd, () => {});
      file.release();
    }
    this.#reserved?.[Symbol.dispose]();
  }

  #start(wanted: number, why: string): void {
    let threads = 0;
    let limit = 0;
    // At the start the writers are starting, too: what they will open does not show yet.
    const aside = this.#closing.mode === 'on' ? this.#writers * DESCRIPTORS_PER_THREAD : 0;
    this.#reserved = this.#budget.reserve((left) => {
      const available = Math.max(0, left - aside);
      // At least one file waits for each thread, else they would only take turns with the writers.
      threads = Math.min(wanted, Math.floor(available / (DESCRIPTORS_PER_THREAD + 1)));
      limit = threads === 0 ? 0 : Math.min(this.#maxQueue, available - threads * DESCRIPTORS_PER_THREAD);
      return limit + threads * DESCRIPTORS_PER_THREAD;
    });
    this.queue.limit = limit;
    const tight = threads < wanted || limit < this.#maxQueue;
    this.#why = tight ? `${why}; held down by the limit of open files` : why;
    for (let i = 0; i < threads; i++) this.#startThread(i + 1);
  }

  #startThread(number: number): void {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    promise.catch(() => {}); // reported by finish, if anybody asks
    this.#halt.signal.addEventListener('abort', () => reject(this.#halt.error), { once: true });
    const workerData: CloseThreadData = { queue: this.queue.handle, watch: this.#closing.mode === 'auto' };
    const thread = new EngineThread<never, CloseReply>({
      entry: ENTRY,
      name: `closer ${number}`,
      workerData,
      halt: this.#halt,
      sharesDescriptors: true,
      // It holds next to nothing: a small heap keeps many of them cheap.
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
      onMessage: ({ files }) => {
        thread.done();
        resolve(files);
      },
    });
    this.#threads.push(thread);
    this.#closed.push(promise);
  }
}

export function checkClosed(handed: number, closed: number): void {
  if (handed === closed) return;
  throw new HgError('HG_INTERNAL', 'the closers closed another number of files than they were given', {
    handed,
    closed,
  });
}
