import { readSync } from 'node:fs';
import { CodedError } from '@quicksilver/bytes';
import { checkRange, closedFile, type FileBytes, truncated } from './file-bytes.ts';
import type { OpenFile } from './open-file.ts';

/** One system call moves less than 2 GiB. */
const MAX_READ = 2 ** 30;

/** What `bytes` holds at most unless the caller says otherwise. */
export const DEFAULT_MAX_HELD = 4 * 1024 * 1024 * 1024;

export interface ReadOptions {
  /** The most that `bytes` may hold. */
  readonly maxHeld?: number | undefined;
  /** Whether to read all of it when the first byte is asked for. Otherwise only when `bytes` is. */
  readonly atOnce?: boolean;
}

/** A file that is read in place. */
export class ReadFile implements FileBytes {
  readonly name: string;
  readonly size: number;
  readonly mapped = false;
  readonly #file: OpenFile;
  readonly #maxHeld: number;
  readonly #atOnce: boolean;
  #whole: Uint8Array<ArrayBuffer> | undefined;

  /** Takes over the open file. */
  constructor(file: OpenFile, { maxHeld = DEFAULT_MAX_HELD, atOnce = false }: ReadOptions = {}) {
    this.name = file.name;
    this.size = file.size;
    this.#file = file;
    this.#maxHeld = maxHeld;
    this.#atOnce = atOnce;
  }

  get bytes(): Uint8Array<ArrayBuffer> {
    if (this.#file.fd < 0) throw closedFile(this.name);
    if (this.#whole === undefined) {
      if (this.size > this.#maxHeld) {
        throw new CodedError('HG_LIMIT', 'a file is longer than what may be held of it', {
          file: this.name,
          size: this.size,
          limit: this.#maxHeld,
        });
      }
      this.#whole = this.#readAt(0, this.size);
    }
    return this.#whole;
  }

  read(offset: number, length: number): Uint8Array<ArrayBuffer> {
    if (this.#file.fd < 0) throw closedFile(this.name);
    checkRange(offset, length, this);
    const whole = this.#atOnce && this.size <= this.#maxHeld ? this.bytes : this.#whole;
    return whole?.subarray(offset, offset + length) ?? this.#readAt(offset, length);
  }

  [Symbol.dispose](): void {
    this.#whole = undefined;
    this.#file[Symbol.dispose]();
  }

  #readAt(offset: number, length: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(length);
    let done = 0;
    while (done < length) {
      const got = readSync(this.#file.fd, bytes, done, Math.min(length - done, MAX_READ), offset + done);
      if (got === 0) throw truncated(offset + done, length - done, { name: this.name, size: offset + done });
      done += got;
    }
    return bytes;
  }
}
