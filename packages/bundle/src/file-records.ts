/**
 * Files as streams of versions 2 and 3 hold them, one after the other:
 *
 *   source (1 byte: s store, c cache) | varint length of name | varint length of data | name | data
 */
import { Gatherer, VarintReader } from '@quicksilver/bytes';
import { HgError, printable, toHgError } from '@quicksilver/hg-types';
import { MAX_STREAM_NAME } from './layout.ts';
import type { StreamedFiles, VfsKey } from './streamed-files.ts';

type State = 'source' | 'name-size' | 'data-size' | 'name' | 'data';

const VFS_KEYS: ReadonlyMap<number, VfsKey> = new Map([
  [0x73, 's'],
  [0x63, 'c'],
]);

export class FileRecords {
  readonly #files: StreamedFiles;
  readonly #gatherer = new Gatherer();
  readonly #varint = new VarintReader();
  #state: State = 'source';
  #vfsKey: VfsKey = 's';
  #nameSize = 0;
  #dataSize = 0;

  constructor(files: StreamedFiles) {
    this.#files = files;
  }

  /** The next byte begins a record. */
  get idle(): boolean {
    return this.#state === 'source';
  }

  /** Reads on from `at`; gives how many bytes were used. */
  step(bytes: Uint8Array, at: number): number {
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
        const length = this.#files.data(bytes, at);
        if (!this.#files.inFile) this.#state = 'source';
        return length;
      }
    }
  }

  #source(byte: number): void {
    this.#files.mark();
    const key = VFS_KEYS.get(byte);
    if (key === undefined) {
      throw new HgError('HG_CORRUPT', 'a streamed file goes to a place that is not known', {
        ...this.#files.facts(),
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
          ...this.#files.facts(),
          length: value,
          limit: MAX_STREAM_NAME,
        });
      }
      if (value === 0) throw new HgError('HG_UNSAFE_NAME', 'a streamed file has no name', this.#files.facts());
      this.#nameSize = value;
      this.#state = 'data-size';
      return;
    }
    this.#files.checkSize(value);
    this.#dataSize = value;
    this.#state = 'name';
  }

  #feed(byte: number): number | undefined {
    try {
      return this.#varint.feed(byte);
    } catch (err) {
      throw toHgError(err, this.#files.facts());
    }
  }

  #begin(name: Uint8Array): void {
    this.#files.begin({ vfsKey: this.#vfsKey, name, size: this.#dataSize });
    this.#state = this.#files.inFile ? 'data' : 'source';
  }
}
