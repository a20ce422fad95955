import type { StreamEntry, StreamSink } from '@quicksilver/bundle';
import type { FileWriter, SharedBlocks } from '@quicksilver/file-writer';
import { HgError } from '@quicksilver/hg-types';
import { RevlogProbe } from './revlog-probe.ts';
import { StoreEntries } from './store-entries.ts';
import type { StreamPlan } from './stream-plan.ts';

/** The files of the stream on their way from the decoder to the writers: bytes stay where they are. */
export class StoreSink implements StreamSink {
  readonly plan: StreamPlan;
  readonly writer: FileWriter;
  readonly entries: StoreEntries;
  readonly probe: RevlogProbe;
  readonly #pool: SharedArrayBuffer;
  readonly #blockSize: number;
  #blockStart = 0;
  /** The file being read is not kept. */
  #dropping = false;
  /** The revlog probe wants to see what comes. */
  #probing = false;

  constructor(plan: StreamPlan, writer: FileWriter, blocks: SharedBlocks) {
    this.plan = plan;
    this.writer = writer;
    this.#pool = blocks.handle.data;
    this.#blockSize = blocks.blockSize;
    this.entries = new StoreEntries(this.#pool);
    this.probe = new RevlogProbe(plan.requirements);
  }

  /** What is pushed next lies in this block. */
  beginBlock(block: number): void {
    this.#blockStart = block * this.#blockSize;
    this.writer.beginBlock(block);
  }

  endBlock(): void {
    this.writer.endBlock();
  }

  file(entry: StreamEntry): void {
    const { path, index } = this.entries.plan(entry);
    this.#dropping = path === undefined;
    if (path === undefined) return;
    this.#probing = index !== undefined;
    if (index !== undefined) this.probe.begin(index);
    this.writer.file(path, entry.size);
  }

  data(bytes: Uint8Array): void {
    if (this.#dropping) return;
    if (bytes.buffer !== this.#pool) throw new HgError('HG_INTERNAL', 'a piece of a file lies outside the blocks');
    if (this.#probing) this.#probing = this.probe.data(bytes);
    this.writer.segment(bytes.byteOffset - this.#blockStart, bytes.length);
  }

  fileEnd(): void {
    if (this.#dropping) return;
    if (this.#probing) this.probe.end();
    this.#probing = false;
    this.writer.fileEnd();
  }
}
