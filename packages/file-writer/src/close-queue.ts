import { HgError } from '@quicksilver/hg-types';

/*
 * Open files on their way from the threads that write to those that close. Descriptors belong to the process, so a
 * number in shared memory is all that has to cross; the name goes along for the case that the close fails.
 *
 *   writer --tryPut--> cells (a ring) --take--> closer: close, release (the cell is free again)
 *
 * tryPut never waits: where the queue is full, or its limit is reached, the writer closes the file itself. A closer
 * waits until there is something to take or the end has come. Nobody holds a lock, so a thread that is ended by force
 * leaves nothing locked. A cell stays taken until its file is closed: what is open because of the queue is never more
 * than its limit.
 *
 * State words (Int32, changed only through Atomics) are those below, then for each cell: its turn (whose turn it is:
 * n for the writer that puts number n, n + 1 for the closer that takes it), the descriptor, the length of the name.
 */
const ACTIVE = 0;
const ENDED = 1;
const WAKE = 2;
const SLEEPERS = 3;
const PUT = 4;
const TAKEN = 5;
const OPEN = 6;
const LIMIT = 7;
const CLOSERS = 8;
const FIRST_CELL = 9;
const CELL_WORDS = 3;
const TURN = 0;
const FD = 1;
const NAME_LENGTH = 2;

/** Longer names are cut in an error's text: a store path is at most 120 characters long, or hashed. */
const NAME_BYTES = 1024;
/** The turns of a smaller ring could not be told apart. */
const MIN_CELLS = 2;
const MAX_CELLS = 65_536;
/** To wake a thread costs more than a fast close: it is done for so many files at once, and at the end of a batch. */
const WAKE_EVERY = 8;

export interface CloseQueueHandle {
  readonly cells: number;
  readonly state: SharedArrayBuffer;
  readonly names: SharedArrayBuffer;
  readonly sizes: SharedArrayBuffer;
}

/** A file whose bytes are all written, in the hands of a closer. */
export interface FileToClose {
  readonly fd: number;
  /** For errors: asked before `release`. */
  where(): { readonly file: string; readonly offset: number };
  /** The file is closed: its place is free. */
  release(): void;
}

export class CloseQueue {
  readonly handle: CloseQueueHandle;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #names: Buffer;
  readonly #sizes: Float64Array<SharedArrayBuffer>;
  /** Files put in by this thread since it last woke the closers. */
  #unsaid = 0;

  private constructor(handle: CloseQueueHandle) {
    this.handle = handle;
    this.#words = new Int32Array(handle.state);
    this.#names = Buffer.from(handle.names);
    this.#sizes = new Float64Array(handle.sizes);
  }

  /** Room for so many files; nothing is taken in before `activate`. */
  static create(size: number): CloseQueue {
    if (!Number.isSafeInteger(size) || size < 1 || size > MAX_CELLS) {
      throw new HgError('HG_USAGE', 'the queue of files to close has an impossible size', { size });
    }
    const cells = Math.max(size, MIN_CELLS);
    const queue = new CloseQueue({
      cells,
      state: new SharedArrayBuffer((FIRST_CELL + cells * CELL_WORDS) * Int32Array.BYTES_PER_ELEMENT),
      names: new SharedArrayBuffer(cells * NAME_BYTES),
      sizes: new SharedArrayBuffer(cells * Float64Array.BYTES_PER_ELEMENT),
    });
    for (let cell = 0; cell < cells; cell++) queue.#words[FIRST_CELL + cell * CELL_WORDS + TURN] = cell;
    queue.limit = size;
    return queue;
  }

  /** The same queue in another thread. */
  static attach(handle: CloseQueueHandle): CloseQueue {
    return new CloseQueue(handle);
  }

  /** Whether files are taken in; a hint, and all that a writer looks at while close is fast. */
  get active(): boolean {
    return Atomics.load(this.#words, ACTIVE) === 1;
  }

  set active(active: boolean) {
    Atomics.store(this.#words, ACTIVE, active ? 1 : 0);
  }

  /** Closers that have begun. */
  get closers(): number {
    return Atomics.load(this.#words, CLOSERS);
  }

  /** A closer is there: from now on files are taken in. */
  enter(): void {
    Atomics.add(this.#words, CLOSERS, 1);
    this.active = true;
  }

  /** The most files that may be open because of the queue. */
  get limit(): number {
    return Atomics.load(this.#words, LIMIT);
  }

  set limit(limit: number) {
    Atomics.store(this.#words, LIMIT, limit);
  }

  /** Files that are in the queue or being closed. */
  get open(): number {
    return Atomics.load(this.#words, OPEN);
  }

  /**
   * Hands a file over; false when there is no room for it, and the caller closes it. Closers that sleep may learn of it
   * later, but no later than by `wake`.
   */
  tryPut(fd: number, file: string, size: number): boolean {
    const put = this.#put(fd, file, size);
    if (put) this.#unsaid++;
    if (this.#unsaid >= (put ? WAKE_EVERY : 1)) this.wake();
    return put;
  }

  /** To be called when nothing may be put in for a while. */
  wake(): void {
    if (this.#unsaid > 0 && Atomics.load(this.#words, SLEEPERS) > 0) Atomics.notify(this.#words, WAKE, this.#unsaid);
    this.#unsaid = 0;
  }

  #put(fd: number, file: string, size: number): boolean {
    const words = this.#words;
    if (Atomics.add(words, OPEN, 1) >= Atomics.load(words, LIMIT)) {
      Atomics.sub(words, OPEN, 1);
      return false;
    }
    for (;;) {
      const turn = Atomics.load(words, PUT);
      const cell = turn % this.handle.cells;
      const at = FIRST_CELL + cell * CELL_WORDS;
      const ahead = Atomics.load(words, at + TURN) - turn;
      if (ahead < 0) {
        // The file that is in this cell is being closed still.
        Atomics.sub(words, OPEN, 1);
        return false;
      }
      if (ahead > 0 || Atomics.compareExchange(words, PUT, turn, turn + 1) !== turn) continue;
      words[at + FD] = fd;
      words[at + NAME_LENGTH] = this.#names.write(file, cell * NAME_BYTES, NAME_BYTES);
      this.#sizes[cell] = size;
      Atomics.store(words, at + TURN, turn + 1);
      break;
    }
    Atomics.add(words, WAKE, 1);
    return true;
  }

  /** The next file, or undefined when there is none now. */
  tryTake(): FileToClose | undefined {
    const words = this.#words;
    for (;;) {
      const turn = Atomics.load(words, TAKEN);
      const cell = turn % this.handle.cells;
      const at = FIRST_CELL + cell * CELL_WORDS;
      const ahead = Atomics.load(words, at + TURN) - (turn + 1);
      if (ahead < 0) return undefined;
      if (ahead > 0 || Atomics.compareExchange(words, TAKEN, turn, turn + 1) !== turn) continue;
      return {
        fd: words[at + FD] ?? -1,
        where: () => {
          const start = cell * NAME_BYTES;
          const file = this.#names.toString('utf8', start, start + (words[at + NAME_LENGTH] ?? 0));
          return { file, offset: this.#sizes[cell] ?? 0 };
        },
        release: () => {
          Atomics.store(words, at + TURN, turn + this.handle.cells);
          Atomics.sub(words, OPEN, 1);
        },
      };
    }
  }

  /** Waits for a file; undefined once the end has come and all is taken. */
  take(): FileToClose | undefined {
    const words = this.#words;
    Atomics.add(words, SLEEPERS, 1);
    try {
      for (;;) {
        const seen = Atomics.load(words, WAKE);
        const ended = Atomics.load(words, ENDED) === 1;
        const file = this.tryTake();
        if (file !== undefined) return file;
        if (ended) return undefined;
        Atomics.wait(words, WAKE, seen);
      }
    } finally {
      Atomics.sub(words, SLEEPERS, 1);
    }
  }

  /** Nothing more will be put in: closers end when they have taken what is there. */
  end(): void {
    Atomics.store(this.#words, ENDED, 1);
    Atomics.add(this.#words, WAKE, 1);
    Atomics.notify(this.#words, WAKE);
  }
}
