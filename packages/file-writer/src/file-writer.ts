import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import { HgError } from '@quicksilver/hg-types';
import { BatchBuilder } from './batch.ts';
import { BatchWriter, type CloseLine, type Owner, type Tally, type WriterTally } from './batch-writer.ts';
import { Closers, type Closing, type ClosingFacts, checkClosed } from './closers.ts';
import type { Halt } from './halt.ts';
import { InlineLane, type Lane, ThreadLane } from './lane.ts';
import type { SharedBlocks } from './shared-blocks.ts';
import { writeFault } from './write-fault.ts';

/*
 *   caller                                lanes
 *   file, segment.., fileEnd  ->  batch  ->  writer 1 (thread)  --+
 *   flushBatch (a block ends)            ->  writer 2 (thread)  --+-> open, write, close; block reference dropped
 *                                        ->  or inline           -+      '-> or to a closer, through a queue
 *
 * A batch lies in one block. A file that goes on in the next block keeps its lane; at every other point the lane
 * with the least pending work is taken, or the caller's own when all are busy and it may help. Directories are made here, once each and before anything inside them is sent.
 * The first error of anybody reaches `halt`, and every call here throws it from then on.
 */

export interface FileWriterOptions {
  /** Must exist; it is never made again when it goes away. Everything is written below it. */
  readonly root: string;
  /** Threads; 0 writes on the calling thread. */
  readonly writers: number;
  /** The calling thread writes too while all writers are busy, as long as the disk is quick. */
  readonly help?: boolean | undefined;
  readonly blocks: SharedBlocks;
  readonly halt: Halt;
  /** Exact modes when given, else 0666 and 0777 less the umask. */
  readonly fileMode?: number | undefined;
  readonly dirMode?: number | undefined;
  readonly owner?: Owner | undefined;
  /** Files may be closed by threads of their own; by the writers when left out. */
  readonly closing?: Closing | undefined;
}

export interface WriteTally extends Tally {
  directories: number;
  /** Where `closing` was given. */
  closing?: ClosingFacts;
}

/** A batch of small files is handed on early: the other writers should not wait for a whole block. */
const MAX_BATCH_FILES = 128;
/** The caller helps when every writer has so much in hand (about three batches): none will stand idle meanwhile. */
const HELP_FROM = 12 * 1024 * 1024;

export class FileWriter implements AsyncDisposable {
  readonly #options: FileWriterOptions;
  readonly #threads: readonly Lane[];
  readonly #helper: InlineLane | undefined;
  /** All of them. */
  readonly #lanes: readonly Lane[];
  readonly #own: BatchWriter;
  readonly #closers: Closers | undefined;
  readonly #directories = new Set<string>();
  readonly #planned: Tally = { files: 0, bytes: 0 };
  #block: number | undefined;
  #batch: BatchBuilder | undefined;
  #file: { readonly path: string; readonly size: number; seen: number } | undefined;
  /** The writer that has the open file, once a batch with a part of it was sent. */
  #fileLane: Lane | undefined;
  #lastDirectory: string | undefined;

  private constructor(options: FileWriterOptions) {
    const { root, fileMode, owner, blocks, halt, writers, help, closing } = options;
    this.#options = options;
    const closers = closing && new Closers(closing, { halt, writers });
    this.#closers = closers;
    const line: CloseLine | undefined = closers && {
      queue: closers.queue,
      onSlow: closing.mode === 'auto' ? (median) => closers.slow(median) : undefined,
    };
    const lane = { blocks, halt, writer: { root, fileMode, owner }, closing: line };
    this.#own = new BatchWriter(blocks, lane.writer);
    this.#helper = help || writers === 0 ? new InlineLane(lane) : undefined;
    this.#threads = Array.from({ length: writers }, (_, i) => new ThreadLane(lane, i + 1));
    this.#lanes = this.#helper ? [...this.#threads, this.#helper] : this.#threads;
  }

  /** Threads start in the background: files may be given at once. */
  static start(options: FileWriterOptions): FileWriter {
    return new FileWriter(options);
  }

  /** What follows lies in this block, of which the caller holds a reference until `endBlock`. */
  beginBlock(block: number): void {
    this.#options.halt.check();
    if (this.#block !== undefined) throw misuse('a block was begun inside another', { block });
    this.#block = block;
    this.#batch = new BatchBuilder(block, this.#file);
  }

  endBlock(): void {
    this.#send();
    this.#block = undefined;
    this.#batch = undefined;
  }

  /** The next file: a relative path that has been audited and encoded, and its announced length. */
  file(path: string, size: number): void {
    const batch = this.#inBlock();
    if (this.#file) throw misuse('a file was begun inside another', { file: path });
    this.#ensureParent(path);
    this.#file = { path, size, seen: 0 };
    batch.file(path, size);
  }

  /** Bytes of the file, at an offset of the block. */
  segment(offset: number, length: number): void {
    const batch = this.#inBlock();
    const file = this.#file;
    if (!file) throw misuse('bytes outside a file', { offset });
    file.seen += length;
    if (file.seen > file.size) throw misuse('more bytes than announced', { file: file.path, announced: file.size });
    if (length > 0) batch.segment(offset, length);
  }

  fileEnd(): void {
    const batch = this.#inBlock();
    const file = this.#file;
    if (!file) throw misuse('the end of no file', {});
    if (file.seen !== file.size) throw misuse('fewer bytes than announced', { file: file.path, announced: file.size });
    this.#file = undefined;
    this.#planned.files++;
    this.#planned.bytes += file.size;
    // What follows the end of a big file may go to another writer.
    if (batch.files >= MAX_BATCH_FILES || batch.continues) this.#send();
  }

  /** A small file made by the caller itself, written at once. */
  writeWhole(path: string, pieces: readonly Uint8Array[]): void {
    this.#options.halt.check();
    this.#ensureParent(path);
    this.#own.writeWhole(path, pieces);
  }

  directory(path: string): void {
    this.#options.halt.check();
    this.#ensureDirectory(path);
  }

  /** What the writers have on disk by now (a hint, for progress). */
  get written(): Tally {
    return sum(this.#lanes.map((lane) => lane.written));
  }

  /** Everything given is written and closed, or the attempt's error is thrown. */
  async finish(): Promise<WriteTally> {
    if (this.#file) throw misuse('the end inside a file', { file: this.#file.path });
    const tallies = await Promise.all(this.#lanes.map((lane) => lane.finish()));
    this.#options.halt.check();
    const { files, bytes } = sum(tallies);
    const closing = await this.#finishClosers(tallies);
    if (files !== this.#planned.files || bytes !== this.#planned.bytes) {
      const where = { files, bytes, plannedFiles: this.#planned.files, plannedBytes: this.#planned.bytes };
      throw new HgError('HG_INTERNAL', 'the writers wrote something else than they were given', where);
    }
    return { files, bytes, directories: this.#directories.size, ...(closing ? { closing } : {}) };
  }

  /** The last closes, whose errors nobody has heard of yet. */
  async #finishClosers(tallies: readonly WriterTally[]): Promise<ClosingFacts | undefined> {
    const closers = this.#closers;
    if (closers === undefined) return undefined;
    const closed = await closers.finish();
    this.#options.halt.check();
    checkClosed(
      tallies.reduce((handed, tally) => handed + tally.handed, 0),
      closed,
    );
    return closers.facts(tallies.find((tally) => tally.closeMedian !== undefined)?.closeMedian);
  }

  /** Ends the threads and waits for them; at once when the attempt was stopped. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane[Symbol.asyncDispose]()));
    this.#own[Symbol.dispose]();
    await this.#closers?.[Symbol.asyncDispose]();
  }

  #inBlock(): BatchBuilder {
    if (this.#batch === undefined || this.#block === undefined) throw misuse('outside a block', {});
    return this.#batch;
  }

  #send(): void {
    const { halt, blocks } = this.#options;
    const batch = this.#inBlock();
    halt.check();
    if (!batch.isEmpty(this.#file !== undefined)) {
      const lane = this.#fileLane ?? this.#choose();
      blocks.retain(batch.block);
      lane.send(batch.build(this.#file === undefined), batch.cost);
      this.#fileLane = this.#file === undefined ? undefined : lane;
    }
    this.#batch = new BatchBuilder(batch.block, this.#file);
  }

  #choose(): Lane {
    let best: Lane | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const lane of this.#threads) {
      const { pending } = lane;
      if (pending >= least) continue;
      best = lane;
      least = pending;
    }
    const helper = this.#helper;
    if (best === undefined) {
      if (helper === undefined) throw misuse('there is no writer', {});
      return helper;
    }
    // A file that goes on would bind its next batches, too.
    const chance = helper !== undefined && least > HELP_FROM && this.#file === undefined;
    return chance && helper.takesChance() ? helper : best;
  }

  #ensureParent(path: string): void {
    const slash = path.lastIndexOf('/');
    const directory = slash === -1 ? '' : path.slice(0, slash);
    if (directory === this.#lastDirectory) return;
    if (directory !== '') this.#ensureDirectory(directory);
    this.#lastDirectory = directory;
  }

  /** One level at a time, so that a root that has gone is an error and not made anew. */
  #ensureDirectory(directory: string): void {
    if (this.#directories.has(directory)) return;
    const slash = directory.lastIndexOf('/');
    const name = directory.slice(slash + 1);
    // The names were audited; this wall costs one look per directory.
    if (name === '' || name === '.' || name === '..')
      throw misuse('a path that leaves the target', { file: directory });
    if (slash !== -1) this.#ensureDirectory(directory.slice(0, slash));
    const { root, dirMode, owner } = this.#options;
    const path = `${root}/${directory}`;
    try {
      mkdirSync(path, dirMode);
      if (owner !== undefined) chownSync(path, owner.uid, owner.gid);
      if (dirMode !== undefined) chmodSync(path, dirMode);
    } catch (err) {
      throw writeFault(err, { file: directory });
    }
    this.#directories.add(directory);
  }
}

function sum(tallies: readonly Tally[]): Tally {
  return tallies.reduce<Tally>((a, b) => ({ files: a.files + b.files, bytes: a.bytes + b.bytes }), {
    files: 0,
    bytes: 0,
  });
}

function misuse(message: string, where: Readonly<Record<string, string | number>>): HgError {
  return new HgError('HG_INTERNAL', message, where);
}
