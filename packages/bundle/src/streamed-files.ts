import { latin1Text, type Where } from '@quicksilver/bytes';
import { HgError, printable } from '@quicksilver/hg-types';

/** Where a streamed file goes: `s` the store, `c` the cache folder. Nothing else exists. */
export type VfsKey = 's' | 'c';

export interface StreamEntry {
  readonly vfsKey: VfsKey;
  /** As the stream means it: bytes, not yet audited. A view of what was pushed unless a border cut it. */
  readonly name: Uint8Array;
  readonly size: number;
}

/** Takes the files of a stream. `data` gets views of what was pushed; empty files get none. */
export interface StreamSink {
  file(entry: StreamEntry): void;
  data(bytes: Uint8Array): void;
  fileEnd(): void;
}

/** What a stream says in advance; versions 1 and 2 do. */
export interface Announced {
  readonly fileCount: number;
  /** Sum of all file sizes. */
  readonly byteCount: number;
}

export interface StreamedFilesOptions {
  /** Begins the facts of each error. */
  readonly what: Where;
  readonly announced?: Announced | undefined;
  /** Where the stream lies; added to offsets that errors name. */
  readonly offset: number;
}

/**
 * What decoders of all versions share: one file at a time from its announcement to its last byte, the sums, and where
 * one is. What was announced is held against what comes as early as it can be: a file that would pass the announced
 * total is refused before its first byte is handed on.
 */
export class StreamedFiles {
  readonly announced: Announced | undefined;
  readonly #what: Where;
  readonly #sink: () => StreamSink;
  #offset: number;
  #files = 0;
  #bytes = 0;
  // The file being read.
  #fileOffset: number;
  #name: Uint8Array | undefined;
  #size = 0;
  #left = 0;

  /** `sink`: asked for when the first file comes, which is after what is announced was read. */
  constructor(sink: () => StreamSink, { what, announced, offset }: StreamedFilesOptions) {
    this.#sink = sink;
    this.#what = what;
    this.announced = announced;
    this.#offset = offset;
    this.#fileOffset = offset;
  }

  /** Files that are complete. */
  get files(): number {
    return this.#files;
  }

  /** Sum of the announced sizes of all files begun. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Behind the last byte that was used. */
  get offset(): number {
    return this.#offset;
  }

  /** Data of a file is still to come. */
  get inFile(): boolean {
    return this.#left > 0;
  }

  /** All files that were announced are complete. */
  get complete(): boolean {
    return this.#files === this.announced?.fileCount;
  }

  /** Goes through `bytes` by steps, each of which says how many it used; none ends it. Returns the sum. */
  feed(bytes: Uint8Array, step: (bytes: Uint8Array, at: number) => number): number {
    let at = 0;
    while (at < bytes.length) {
      const taken = step(bytes, at);
      if (taken === 0) break;
      at += taken;
      this.#offset += taken;
    }
    return at;
  }

  /** The next byte is the first of a file's announcement. */
  mark(): void {
    this.#fileOffset = this.#offset;
  }

  /** Looks at the size of the next file before its name is known. */
  checkSize(size: number): void {
    if (this.announced === undefined) {
      if (size <= Number.MAX_SAFE_INTEGER - this.#bytes) return;
      throw new HgError('HG_LIMIT', 'the files of the stream are too large together', { ...this.facts(), size });
    }
    if (size <= this.announced.byteCount - this.#bytes) return;
    throw new HgError('HG_CORRUPT', 'the files of the stream pass the announced size', {
      ...this.facts(),
      size,
      bytes: this.#bytes,
      announcedBytes: this.announced.byteCount,
    });
  }

  begin(entry: StreamEntry): void {
    this.#name = entry.name;
    this.#size = entry.size;
    this.#left = entry.size;
    this.#bytes += entry.size;
    this.#sink().file(entry);
    if (this.#left === 0) this.#finish();
  }

  /** Hands on what there is of the file; gives how many bytes that were. */
  data(bytes: Uint8Array, at: number): number {
    const length = Math.min(this.#left, bytes.length - at);
    this.#left -= length;
    this.#sink().data(bytes.subarray(at, at + length));
    if (this.#left === 0) this.#finish();
    return length;
  }

  /** The stream ends before it is complete. */
  truncated(more: Where = {}): HgError {
    return new HgError('HG_TRUNCATED', 'the stream ends before its last file is complete', {
      ...this.facts(),
      offset: this.#offset,
      files: this.#files,
      ...(this.announced === undefined ? {} : { announcedFiles: this.announced.fileCount }),
      ...more,
      ...(this.#left > 0 ? { size: this.#size, missing: this.#left } : {}),
    });
  }

  /** A byte belongs to the stream and to no file of it. */
  leftover(): HgError {
    this.mark();
    return new HgError('HG_CORRUPT', 'there are bytes after the last announced file', {
      ...this.facts(),
      ...(this.announced === undefined ? {} : { announcedFiles: this.announced.fileCount }),
    });
  }

  /** All files came: do they add up? */
  checkSum(): void {
    if (this.announced === undefined || this.#bytes === this.announced.byteCount) return;
    throw new HgError('HG_CORRUPT', 'the files of the stream do not add up to the announced size', {
      ...this.#what,
      bytes: this.#bytes,
      announcedBytes: this.announced.byteCount,
    });
  }

  /** The file: its number, where it begins, its name once it is known. */
  facts(): Where {
    return {
      ...this.#what,
      entry: this.#files,
      offset: this.#fileOffset,
      ...(this.#name === undefined ? {} : { file: printable(latin1Text(this.#name)) }),
    };
  }

  #finish(): void {
    this.#files += 1;
    this.#name = undefined;
    this.#sink().fileEnd();
  }
}
