/**
 * The payload of a `stream2` part: whole files one after the other, each as
 *
 *   source (1 byte: s store, c cache) | varint length of name | varint length of data | name | data
 *
 * as a push decoder. Pieces of the payload may end anywhere. What was announced is held against what comes as early
 * as it can be: a file that would pass the announced total is refused before its first byte is handed on.
 */
import { Gatherer, latin1Text, VarintReader } from '@quicksilver/bytes';
import { HgError, printable, toHgError } from '@quicksilver/hg-types';
import { MAX_STREAM_NAME } from './layout.ts';
import type { PartConsumer } from './part-consumer.ts';
import type { Stream2Params } from './stream2-params.ts';

/** Where a streamed file goes: `s` the store, `c` the cache folder. Nothing else exists. */
export type VfsKey = 's' | 'c';

export interface StreamEntry {
  readonly vfsKey: VfsKey;
  /** As the stream has it: bytes, not yet audited. A view of what was pushed unless a border cut it. */
  readonly name: Uint8Array;
  readonly size: number;
}

/** Takes the files of a stream. `data` gets views of what was pushed; empty files get none. */
export interface StreamSink {
  file(entry: StreamEntry): void;
  data(bytes: Uint8Array): void;
  fileEnd(): void;
}

type State = 'source' | 'name-size' | 'data-size' | 'name' | 'data';

const VFS_KEYS: ReadonlyMap<number, VfsKey> = new Map([
  [0x73, 's'],
  [0x63, 'c'],
]);

export class StreamV2Decoder implements PartConsumer {
  readonly #params: Stream2Params;
  readonly #sink: StreamSink;
  readonly #gatherer = new Gatherer();
  readonly #varint = new VarintReader();
  #state: State = 'source';
  #offset: number;
  #files = 0;
  #bytes = 0;
  // The entry being read.
  #entryOffset: number;
  #vfsKey: VfsKey = 's';
  #nameSize = 0;
  #dataSize = 0;
  #left = 0;
  #name: Uint8Array | undefined;

  /** `baseOffset`: added to offsets in the payload that errors name. */
  constructor(params: Stream2Params, sink: StreamSink, baseOffset = 0) {
    this.#params = params;
    this.#sink = sink;
    this.#offset = baseOffset;
    this.#entryOffset = baseOffset;
  }

  /** Files that are complete. */
  get files(): number {
    return this.#files;
  }

  /** Sum of the announced sizes of all files begun. */
  get bytes(): number {
    return this.#bytes;
  }

  data(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length) {
      const taken = this.#step(bytes, at);
      at += taken;
      this.#offset += taken;
    }
  }

  end(): void {
    const { fileCount, byteCount } = this.#params;
    if (this.#state !== 'source' || this.#files < fileCount) {
      const inFile = this.#state === 'data';
      throw new HgError('HG_TRUNCATED', 'the stream ends before its last file is complete', {
        ...this.#facts(),
        offset: this.#offset,
        files: this.#files,
        announcedFiles: fileCount,
        ...(inFile ? { size: this.#dataSize, missing: this.#left } : {}),
      });
    }
    if (this.#bytes !== byteCount) {
      throw new HgError('HG_CORRUPT', 'the files of the stream do not add up to the announced size', {
        part: 'stream2',
        bytes: this.#bytes,
        announcedBytes: byteCount,
      });
    }
  }

  /** Reads on from `at`; gives how many bytes were used. */
  #step(bytes: Uint8Array, at: number): number {
    switch (this.#state) {
      case 'source':
        this.#source(bytes[at] ?? 0);
        return 1;
      case 'name-size':
      case 'data-size':
        this.#size(bytes[at] ?? 0);
        return 1;
      case 'name': {
        const name = this.#gatherer.take(bytes, at, this.#nameSize);
        if (name) this.#begin(name);
        return this.#gatherer.taken;
      }
      case 'data': {
        const length = Math.min(this.#left, bytes.length - at);
        this.#left -= length;
        this.#sink.data(bytes.subarray(at, at + length));
        if (this.#left === 0) this.#finish();
        return length;
      }
    }
  }

  #source(byte: number): void {
    this.#entryOffset = this.#offset;
    if (this.#files === this.#params.fileCount) {
      throw new HgError('HG_CORRUPT', 'there are bytes after the last announced file', {
        ...this.#facts(),
        announcedFiles: this.#params.fileCount,
      });
    }
    const key = VFS_KEYS.get(byte);
    if (key === undefined) {
      throw new HgError('HG_CORRUPT', 'a streamed file goes to a place that is not known', {
        ...this.#facts(),
        source: printable(String.fromCharCode(byte)),
      });
    }
    this.#vfsKey = key;
    this.#state = 'name-size';
  }

  #size(byte: number): void {
    const value = this.#feed(byte);
    if (value === undefined) return;
    if (this.#state === 'name-size') {
      if (value > MAX_STREAM_NAME) {
        throw new HgError('HG_LIMIT', 'the name of a streamed file is too long', {
          ...this.#facts(),
          length: value,
          limit: MAX_STREAM_NAME,
        });
      }
      if (value === 0) throw new HgError('HG_UNSAFE_NAME', 'a streamed file has no name', this.#facts());
      this.#nameSize = value;
      this.#state = 'data-size';
      return;
    }
    if (value > this.#params.byteCount - this.#bytes) {
      throw new HgError('HG_CORRUPT', 'the files of the stream pass the announced size', {
        ...this.#facts(),
        size: value,
        bytes: this.#bytes,
        announcedBytes: this.#params.byteCount,
      });
    }
    this.#dataSize = value;
    this.#state = 'name';
  }

  #feed(byte: number): number | undefined {
    try {
      return this.#varint.feed(byte);
    } catch (err) {
      throw toHgError(err, this.#facts());
    }
  }

  #begin(name: Uint8Array): void {
    this.#name = name;
    this.#left = this.#dataSize;
    this.#bytes += this.#dataSize;
    this.#state = 'data';
    this.#sink.file({ vfsKey: this.#vfsKey, name, size: this.#dataSize });
    if (this.#left === 0) this.#finish();
  }

  #finish(): void {
    this.#files += 1;
    this.#name = undefined;
    this.#state = 'source';
    this.#sink.fileEnd();
  }

  /** The entry: its number, where it begins, its name once it is known. */
  #facts(): Record<string, string | number> {
    return {
      part: 'stream2',
      entry: this.#files,
      offset: this.#entryOffset,
      ...(this.#name === undefined ? {} : { file: printable(latin1Text(this.#name)) }),
    };
  }
}
