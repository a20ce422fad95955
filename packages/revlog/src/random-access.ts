import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { HgError, toHgError } from '@quicksilver/hg-types';

/** One system call moves less than 2 GiB. */
const MAX_READ = 2 ** 30;

/** Bytes at known places of something whose size is known: a file, or memory. */
export interface RandomAccess {
  readonly size: number;
  /** Exactly `length` bytes from `offset`; they stay as they are. @throws HgError HG_TRUNCATED outside of `size`. */
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

/** A file that is read in place, so that data far larger than memory can be looked at. */
export class FileAccess implements RandomAccess, Disposable {
  readonly size: number;
  readonly #name: string;
  #fd: number;

  private constructor(fd: number, size: number, name: string) {
    this.#fd = fd;
    this.size = size;
    this.#name = name;
  }

  /** `name` is what faults call the file. */
  static open(path: string, name: string): FileAccess {
    let fd = -1;
    try {
      fd = openSync(path, 'r');
      return new FileAccess(fd, fstatSync(fd).size, name);
    } catch (err) {
      if (fd >= 0) closeSync(fd);
      throw toHgError(err, { file: name });
    }
  }

  read(offset: number, length: number): Uint8Array {
    if (this.#fd < 0) throw new HgError('HG_CLOSED', 'a data file was used after it was closed', { file: this.#name });
    checkRange(offset, length, { name: this.#name, size: this.size });
    const bytes = new Uint8Array(length);
    let done = 0;
    while (done < length) {
      const got = this.#readSome(bytes, done, offset + done);
      if (got === 0) throw truncated(offset + done, length - done, { name: this.#name, size: offset + done });
      done += got;
    }
    return bytes;
  }

  [Symbol.dispose](): void {
    const fd = this.#fd;
    this.#fd = -1;
    if (fd >= 0) closeSync(fd);
  }

  #readSome(bytes: Uint8Array, at: number, position: number): number {
    try {
      return readSync(this.#fd, bytes, at, Math.min(bytes.length - at, MAX_READ), position);
    } catch (err) {
      throw toHgError(err, { file: this.#name, offset: position });
    }
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
