import { closeSync, constants, fchmodSync, fchownSync, openSync, writeSync, writevSync } from 'node:fs';
import { HgError } from '@quicksilver/hg-types';
import type { Batch } from './batch.ts';
import type { CloseQueue } from './close-queue.ts';
import type { SharedBlocks } from './shared-blocks.ts';
import { SlowGauge } from './slow-gauge.ts';
import { writeFault } from './write-fault.ts';

/** Never truncating and never following what is there: a second writer of one name fails instead of mixing. */
const CREATE = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY;

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

export interface BatchWriterOptions {
  readonly root: string;
  /** Set exactly on each file when given; else 0666 less the umask. */
  readonly fileMode?: number | undefined;
  readonly owner?: Owner | undefined;
}

export interface Tally {
  files: number;
  bytes: number;
}

/** What a writer says at its end. */
export interface WriterTally extends Tally {
  /** Of its files so many were handed to closers, which count them again. */
  handed: number;
  /** Milliseconds, of the last closes; undefined where nobody asked or there were too few. */
  readonly closeMedian?: number | undefined;
}

/** The way to the closers. */
export interface CloseLine {
  readonly queue: CloseQueue;
  /** Called whenever the last closes were slow while no closer was there; absent where that does not matter. */
  readonly onSlow?: ((median: number) => void) | undefined;
  /** Told of the descriptor that is open, then of -1: whoever ends this thread by force closes it. */
  readonly held?: ((fd: number) => void) | undefined;
}

/**
 * Writes batches with plain system calls, front to back, one open file at a time. The same code runs in a writer
 * thread and, for small inputs, on the engine's own thread.
 */
export class BatchWriter {
  readonly #options: BatchWriterOptions;
  readonly #blocks: SharedBlocks;
  readonly tally: WriterTally = { files: 0, bytes: 0, handed: 0 };
  readonly #closing: CloseLine | undefined;
  readonly #gauge: SlowGauge | undefined;
  #fd: number | undefined;
  #path = '';
  #size = 0;
  #at = 0;

  constructor(blocks: SharedBlocks, options: BatchWriterOptions, closing?: CloseLine) {
    this.#blocks = blocks;
    this.#options = options;
    this.#closing = closing;
    this.#gauge = closing?.onSlow ? new SlowGauge() : undefined;
  }

  /** Writes a batch and drops its reference to the block. Returns early, and quietly, when all is being stopped. */
  run(batch: Batch): void {
    const data = this.#blocks.view(batch.block);
    const last = batch.paths.length - 1;
    let segment = 0;
    for (let i = 0; i <= last; i++) {
      if (this.#blocks.stopped) return;
      const count = batch.counts[i] ?? 0;
      if (i > 0 || !batch.continues) this.#open(batch.paths[i] ?? '', batch.sizes[i] ?? 0);
      if (count === 1) {
        this.#write(data, batch.segments[segment] ?? 0, batch.segments[segment + 1] ?? 0);
      } else if (count > 1) {
        this.#writeMany(data, batch.segments.slice(segment, segment + 2 * count));
      }
      segment += 2 * count;
      if (i < last || batch.complete) this.#close();
    }
    this.#closing?.queue.wake();
    this.#blocks.release(batch.block);
  }

  /** A small file of the engine's own, whole. */
  writeWhole(path: string, pieces: readonly Uint8Array[]): void {
    this.#open(
      path,
      pieces.reduce((sum, piece) => sum + piece.length, 0),
    );
    for (const piece of pieces) this.#write(piece, 0, piece.length);
    this.#close();
  }

  /** The tally, with what was seen of closes. */
  get report(): WriterTally {
    return { ...this.tally, closeMedian: this.#gauge?.verdict === undefined ? undefined : this.#gauge.median };
  }

  /** Closes what an error or a stop left open. */
  [Symbol.dispose](): void {
    const fd = this.#fd;
    this.#fd = undefined;
    if (fd === undefined) return;
    this.#closing?.held?.(-1);
    try {
      closeSync(fd);
    } catch {
      // The file is thrown away with the attempt; the error that led here is the one that counts.
    }
  }

  #open(path: string, size: number): void {
    this.#path = path;
    this.#size = size;
    this.#at = 0;
    const { root, fileMode, owner } = this.#options;
    try {
      this.#fd = openSync(`${root}/${path}`, CREATE, fileMode ?? 0o666);
      this.#closing?.held?.(this.#fd);
      if (owner !== undefined) fchownSync(this.#fd, owner.uid, owner.gid);
      if (fileMode !== undefined) fchmodSync(this.#fd, fileMode); // after the owner: chown clears bits
    } catch (err) {
      throw this.#fault(err);
    }
  }

  #write(data: Uint8Array, offset: number, length: number): void {
    const fd = this.#opened();
    for (let done = 0; done < length; ) {
      let written: number;
      try {
        written = writeSync(fd, data, offset + done, length - done);
      } catch (err) {
        throw this.#fault(err);
      }
      done += this.#progress(written);
    }
  }

  /** Several segments by one call where the system takes them all; what it leaves is written piece by piece. */
  #writeMany(data: Uint8Array, segments: readonly number[]): void {
    const fd = this.#opened();
    const views: Uint8Array[] = [];
    for (let i = 0; i < segments.length; i += 2) {
      const offset = segments[i] ?? 0;
      views.push(data.subarray(offset, offset + (segments[i + 1] ?? 0)));
    }
    let written: number;
    try {
      written = writevSync(fd, views);
    } catch (err) {
      throw this.#fault(err);
    }
    this.#progress(written);
    for (const view of views) {
      if (written >= view.length) written -= view.length;
      else {
        this.#write(view, written, view.length - written);
        written = 0;
      }
    }
  }

  #progress(written: number): number {
    // A system that takes nothing and reports nothing would be asked for ever.
    if (written <= 0) throw new HgError('HG_IO', 'the system wrote nothing', { file: this.#path, offset: this.#at });
    this.#at += written;
    return written;
  }

  #close(): void {
    const fd = this.#opened();
    if (this.#at !== this.#size) {
      const where = { file: this.#path, offset: this.#at, announced: this.#size };
      throw new HgError('HG_INTERNAL', 'a file was closed before all of it was written', where);
    }
    this.#fd = undefined; // closed even if close reports an error
    this.#closing?.held?.(-1);
    const queue = this.#closing?.queue;
    if (queue?.active && queue.tryPut(fd, this.#path, this.#size)) this.tally.handed++;
    else if (this.#gauge?.looksNow()) this.#closeWatched(fd, this.#gauge);
    else this.#closeHere(fd);
    this.tally.files++;
    this.tally.bytes += this.#at;
  }

  #closeHere(fd: number): void {
    try {
      closeSync(fd);
    } catch (err) {
      throw this.#fault(err);
    }
  }

  #closeWatched(fd: number, gauge: SlowGauge): void {
    const started = performance.now();
    this.#closeHere(fd);
    gauge.add(performance.now() - started);
    const queue = this.#closing?.queue;
    if (gauge.verdict !== 'slow' || queue === undefined || queue.active) return;
    if (queue.closers > 0) queue.active = true;
    else this.#closing?.onSlow?.(gauge.median ?? 0);
    gauge.reset();
  }

  #opened(): number {
    if (this.#fd === undefined) throw new HgError('HG_INTERNAL', 'no file is open', { file: this.#path });
    return this.#fd;
  }

  #fault(err: unknown): HgError {
    return writeFault(err, { file: this.#path, offset: this.#at });
  }
}
