import { CodedError } from '@quicksilver/bytes';

/** The bytes of a file, mapped or read: whoever uses them need not care which. */
export interface FileBytes extends Disposable {
  /** What faults call the file. */
  readonly name: string;
  readonly size: number;
  readonly mapped: boolean;
  /**
   * The whole file. It must not be written to: a mapping cannot be, and the process ends. It is empty after dispose
   * where the file was mapped: copy what is to outlive it.
   *
   * @throws CodedError HG_CLOSED after dispose, HG_LIMIT where all of it is more than may be held.
   */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Exactly `length` bytes from `offset`, valid as `bytes` are. @throws CodedError HG_TRUNCATED outside of `size`. */
  read(offset: number, length: number): Uint8Array<ArrayBuffer>;
}

export function closedFile(name: string): CodedError {
  return new CodedError('HG_CLOSED', 'a file was used after it was closed', { file: name });
}

export interface Extent {
  readonly name: string;
  readonly size: number;
}

export function checkRange(offset: number, length: number, extent: Extent): void {
  if (!(offset >= 0 && length >= 0 && offset + length <= extent.size)) throw truncated(offset, length, extent);
}

export function truncated(offset: number, length: number, { name, size }: Extent): CodedError {
  return new CodedError('HG_TRUNCATED', 'the file ends before the bytes that are asked for', {
    file: name,
    offset,
    wanted: length,
    size,
  });
}
