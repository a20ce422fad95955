/**
 * The files of a stream of version 1, as they follow the header of an `HGS1` file or the first lines of the reply to
 * `stream_out`, as a push decoder:
 *
 *   name NUL size in decimal LF | data
 *
 * Names have their directories encoded, all files go to the store, and the announced number of files ends the stream:
 * what follows belongs to somebody else and is only counted.
 */
import { latin1Text } from '@quicksilver/bytes';
import { HgError, printable, toHgError } from '@quicksilver/hg-types';
import { readDecimal } from './decimal.ts';
import { decodeDirectories } from './directory-names.ts';
import { MAX_DECIMAL, MAX_STREAM_NAME } from './layout.ts';
import { LineReader } from './line-reader.ts';
import { type Announced, StreamedFiles, type StreamSink } from './streamed-files.ts';

const NUL = 0;

export class StreamV1Decoder {
  readonly #files: StreamedFiles;
  readonly #lines = new LineReader(MAX_STREAM_NAME + 1 + MAX_DECIMAL);
  #trailing = 0;

  /** `baseOffset`: where the first byte that will be pushed lies in the input; for facts only. */
  constructor(announced: Announced, sink: StreamSink, baseOffset = 0) {
    this.#files = new StreamedFiles(() => sink, { what: { stream: 'v1' }, announced, offset: baseOffset });
  }

  /** Files that are complete. */
  get files(): number {
    return this.#files.files;
  }

  /** Sum of the announced sizes of all files begun. */
  get bytes(): number {
    return this.#files.bytes;
  }

  /** True once the last announced file is complete. */
  get finished(): boolean {
    return this.#files.complete;
  }

  /** Offset behind the last byte that belongs to the stream. */
  get offset(): number {
    return this.#files.offset;
  }

  /** Bytes pushed behind the last file. */
  get trailing(): number {
    return this.#trailing;
  }

  push(bytes: Uint8Array): void {
    this.#trailing += bytes.length - this.#files.feed(bytes, this.#step);
  }

  /** There are no more bytes. */
  end(): void {
    if (!this.finished) throw this.#files.truncated();
    this.#files.checkSum();
  }

  readonly #step = (bytes: Uint8Array, at: number): number => {
    if (this.#files.inFile) return this.#files.data(bytes, at);
    return this.finished ? 0 : this.#line(bytes, at);
  };

  #line(bytes: Uint8Array, at: number): number {
    if (this.#lines.held === 0) this.#files.mark();
    const line = this.#take(bytes, at);
    if (line !== undefined) this.#begin(line);
    return this.#lines.taken;
  }

  #take(bytes: Uint8Array, at: number): Uint8Array | undefined {
    try {
      return this.#lines.take(bytes, at);
    } catch (err) {
      throw toHgError(err, this.#files.facts());
    }
  }

  #begin(line: Uint8Array): void {
    const end = line.indexOf(NUL);
    if (end < 1 || end > MAX_STREAM_NAME) throw this.#badName(line, end);
    const encoded = line.subarray(0, end);
    const size = plainDecimal(line, end + 1) ?? this.#size(line.subarray(end + 1), encoded);
    this.#files.checkSize(size);
    this.#files.begin({ vfsKey: 's', name: decodeDirectories(encoded), size });
  }

  /** The careful way, which knows what to say. */
  #size(digits: Uint8Array, name: Uint8Array): number {
    return readDecimal(latin1Text(digits), 'the size of a streamed file', () => ({
      ...this.#files.facts(),
      file: printable(latin1Text(name)),
    }));
  }

  #badName(line: Uint8Array, end: number): HgError {
    const where = this.#files.facts();
    if (end === -1) {
      return new HgError('HG_CORRUPT', 'a streamed file has no size', { ...where, line: printable(latin1Text(line)) });
    }
    if (end === 0) return new HgError('HG_UNSAFE_NAME', 'a streamed file has no name', where);
    const limit = MAX_STREAM_NAME;
    return new HgError('HG_LIMIT', 'the name of a streamed file is too long', { ...where, length: end, limit });
  }
}

const ZERO = 0x30;
/** So many digits are a number that is exact, whatever they are. */
const PLAIN_DIGITS = 15;

/** The number that the rest of a line is, if it is an ordinary one: there is one per file. */
function plainDecimal(line: Uint8Array, from: number): number | undefined {
  const length = line.length - from;
  if (length === 0 || length > PLAIN_DIGITS) return undefined;
  let value = 0;
  for (let i = from; i < line.length; i++) {
    const digit = (line[i] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  return value;
}
