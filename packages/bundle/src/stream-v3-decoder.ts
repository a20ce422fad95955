/**
 * The payload of a `stream3-exp` part as a push decoder:
 *
 *   varint number of entries | per entry: varint number of files | that many files as in version 2
 *
 * An entry is a revlog (its data before its index) or another file; it may be empty. Nothing says in advance how many
 * files there are and how large.
 */
import { VarintReader } from '@quicksilver/bytes';
import { toHgError } from '@quicksilver/hg-types';
import { FileRecords } from './file-records.ts';
import type { PartConsumer } from './part-consumer.ts';
import { StreamedFiles, type StreamSink } from './streamed-files.ts';

export class StreamV3Decoder implements PartConsumer {
  readonly #files: StreamedFiles;
  readonly #records: FileRecords;
  readonly #varint = new VarintReader();
  readonly #open: (entryCount: number) => StreamSink;
  #sink: StreamSink | undefined;
  #entryCount = 0;
  /** Entries begun. */
  #entries = 0;
  /** Files of the entry that are still to come. */
  #filesLeft = 0;

  /**
   * `open`: told how many entries there will be, once, before the first file. `baseOffset`: added to offsets in the
   * payload that errors name.
   */
  constructor(open: (entryCount: number) => StreamSink, baseOffset = 0) {
    this.#open = open;
    this.#files = new StreamedFiles(() => this.#opened(), { what: { part: 'stream3-exp' }, offset: baseOffset });
    this.#records = new FileRecords(this.#files);
  }

  /** Files that are complete. */
  get files(): number {
    return this.#files.files;
  }

  /** Sum of the announced sizes of all files begun. */
  get bytes(): number {
    return this.#files.bytes;
  }

  /** Entries that were announced; none before `open` was called. */
  get entryCount(): number {
    return this.#entryCount;
  }

  data(bytes: Uint8Array): void {
    this.#files.feed(bytes, this.#step);
  }

  end(): void {
    const between = this.#records.idle && this.#filesLeft === 0 && !this.#varint.partial;
    if (this.#sink !== undefined && between && this.#entries === this.#entryCount) return;
    throw this.#files.truncated({ entries: this.#entries, announcedEntries: this.#entryCount });
  }

  readonly #step = (bytes: Uint8Array, at: number): number => {
    if (!this.#records.idle || this.#filesLeft > 0) return this.#record(bytes, at);
    if (this.#sink !== undefined && this.#entries === this.#entryCount) throw this.#files.leftover();
    this.#count(bytes[at] ?? 0);
    return 1;
  };

  #record(bytes: Uint8Array, at: number): number {
    const taken = this.#records.step(bytes, at);
    if (this.#records.idle) this.#filesLeft -= 1;
    return taken;
  }

  /** Number of entries, then that of the files in each. */
  #count(byte: number): void {
    if (!this.#varint.partial) this.#files.mark();
    const value = this.#feed(byte);
    if (value === undefined) return;
    if (this.#sink === undefined) {
      this.#entryCount = value;
      this.#sink = this.#open(value);
    } else {
      this.#entries += 1;
      this.#filesLeft = value;
    }
  }

  #feed(byte: number): number | undefined {
    try {
      return this.#varint.feed(byte);
    } catch (err) {
      throw toHgError(err, this.#files.facts());
    }
  }

  #opened(): StreamSink {
    this.#sink ??= this.#open(this.#entryCount);
    return this.#sink;
  }
}
