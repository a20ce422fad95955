import { HgError, toHgError } from '@quicksilver/hg-types';
import { type ExpectedUse, type FileBytes, openBytes, type StableBy } from '@quicksilver/mmap';

/** Bytes at known places of something whose size is known: a file, or memory. */
export interface RandomAccess {
  readonly size: number;
  /** Exactly `length` bytes from `offset`, there until it is closed. @throws HgError HG_TRUNCATED outside of `size`. */
  read(offset: number, length: number): Uint8Array;
}

/** The same bytes without what Buffer changes: there `slice` is a view, and whoever wants a copy gets none. */
export function plainBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Memory as a RandomAccess; hands out views. */
export function bytesAccess(memory: Uint8Array, name: string): RandomAccess {
  const bytes = plainBytes(memory);
  return {
    size: bytes.length,
    read(offset, length) {
      checkRange(offset, length, { name, size: bytes.length });
      return bytes.subarray(offset, offset + length);
    },
  };
}

/** How a data file or index will be used. */
export interface FileUse {
  /** Why nobody shortens the file meanwhile; then it may be mapped. Undefined: it is read. */
  readonly stable?: StableBy | undefined;
  /** Whether most of it will be looked at, or few places. */
  readonly expectedUse?: ExpectedUse | undefined;
  /** How much may be held of it at once where it is read. */
  readonly maxHeld?: number | undefined;
}

/** A file whose bytes are had in place, mapped or read, so that data far larger than memory can be looked at. */
export class FileAccess implements RandomAccess, Disposable {
  readonly size: number;
  readonly #file: FileBytes;

  private constructor(file: FileBytes) {
    this.size = file.size;
    this.#file = file;
  }

  /** `name` is what faults call the file. */
  static open(path: string, name: string, use: FileUse = {}): FileAccess {
    try {
      return new FileAccess(openBytes(path, { ...use, name }));
    } catch (err) {
      throw toHgError(err, { file: name });
    }
  }

  /** All of it. @throws HgError HG_LIMIT where that is more than may be held. */
  get bytes(): Uint8Array {
    try {
      return this.#file.bytes;
    } catch (err) {
      throw toHgError(err, { file: this.#file.name });
    }
  }

  read(offset: number, length: number): Uint8Array {
    try {
      return this.#file.read(offset, length);
    } catch (err) {
      throw toHgError(err, { file: this.#file.name, offset });
    }
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }
}

interface Extent {
  readonly name: string;
  readonly size: number;
}

function checkRange(offset: number, length: number, extent: Extent): void {
  if (!(offset >= 0 && length >= 0 && offset + length <= extent.size)) throw truncated(offset, length, extent);
}

function truncated(offset: number, length: number, { name, size }: Extent): HgError {
  return new HgError('HG_TRUNCATED', 'the file ends before the bytes that are asked for', {
    file: name,
    offset,
    wanted: length,
    size,
  });
}
