import { closeSync, fstatSync, openSync } from 'node:fs';
import { CodedError } from '@quicksilver/bytes';

export interface OpenFileOptions {
  /** What faults call the file; its path unless given. */
  readonly name?: string | undefined;
  /**
   * How many bytes there must be, where another file says so. Fewer are HG_TRUNCATED, before anything is mapped;
   * further ones are left out, since what names a length knows nothing of them.
   */
  readonly expectedSize?: number | undefined;
}

/** A file that is open for reading, with a length that was checked. */
export class OpenFile implements Disposable {
  readonly name: string;
  readonly size: number;
  #fd: number;

  private constructor(fd: number, size: number, name: string) {
    this.#fd = fd;
    this.size = size;
    this.name = name;
  }

  static open(path: string, { name = path, expectedSize }: OpenFileOptions): OpenFile {
    const fd = openSync(path, 'r');
    try {
      const stat = fstatSync(fd);
      if (!stat.isFile()) throw new CodedError('HG_UNSUPPORTED', 'this is no regular file', { file: name });
      if (expectedSize !== undefined && stat.size < expectedSize) {
        throw new CodedError('HG_TRUNCATED', 'the file is shorter than it must be', {
          file: name,
          size: stat.size,
          expected: expectedSize,
        });
      }
      return new OpenFile(fd, expectedSize ?? stat.size, name);
    } catch (err) {
      closeSync(fd);
      throw err;
    }
  }

  /** Negative once it is closed. */
  get fd(): number {
    return this.#fd;
  }

  [Symbol.dispose](): void {
    const fd = this.#fd;
    this.#fd = -1;
    if (fd >= 0) closeSync(fd);
  }
}
