/**
 * The reply to the command `stream_out` as a push decoder: a line with a status, a line with the number of files and
 * the sum of their sizes, then a stream of version 1. What a reader must know beside it (requirements) is among the
 * capabilities of the server.
 */
import { latin1Text } from '@quicksilver/bytes';
import { HgError, printable, toHgError } from '@quicksilver/hg-types';
import { readDecimal } from './decimal.ts';
import { MAX_DECIMAL } from './layout.ts';
import { LineReader } from './line-reader.ts';
import { StreamV1Decoder } from './stream-v1-decoder.ts';
import type { Announced, StreamSink } from './streamed-files.ts';

const REFUSALS: ReadonlyMap<string, string> = new Map([
  ['1', 'the server does not allow stream clones'],
  ['2', 'the server could not lock its repository'],
]);

export class StreamOutDecoder {
  readonly #open: (announced: Announced) => StreamSink;
  readonly #lines = new LineReader(2 * MAX_DECIMAL + 1);
  #offset: number;
  #status: string | undefined;
  #stream: StreamV1Decoder | undefined;

  /** `open`: told what is announced, once, before the first file. `baseOffset`: for facts only. */
  constructor(open: (announced: Announced) => StreamSink, baseOffset = 0) {
    this.#open = open;
    this.#offset = baseOffset;
  }

  /** True once the last announced file is complete. */
  get finished(): boolean {
    return this.#stream?.finished ?? false;
  }

  /** Offset behind the last byte that belongs to the reply. */
  get offset(): number {
    return this.#stream?.offset ?? this.#offset;
  }

  /** Bytes pushed behind the last file. */
  get trailing(): number {
    return this.#stream?.trailing ?? 0;
  }

  push(bytes: Uint8Array): void {
    let at = 0;
    while (this.#stream === undefined && at < bytes.length) {
      const line = this.#take(bytes, at);
      at += this.#lines.taken;
      this.#offset += this.#lines.taken;
      if (line !== undefined) this.#line(latin1Text(line));
    }
    if (at < bytes.length) this.#stream?.push(bytes.subarray(at));
  }

  /** There are no more bytes. */
  end(): void {
    if (this.#stream) {
      this.#stream.end();
      return;
    }
    const reading = this.#status === undefined ? 'status' : 'counts';
    throw new HgError('HG_TRUNCATED', 'the input ends too early', { stream: 'v1', reading, offset: this.#offset });
  }

  #take(bytes: Uint8Array, at: number): Uint8Array | undefined {
    try {
      return this.#lines.take(bytes, at);
    } catch (err) {
      throw toHgError(err, { stream: 'v1', offset: this.#offset });
    }
  }

  #line(line: string): void {
    const where = { stream: 'v1', offset: this.#offset - line.length - 1 };
    if (this.#status === undefined) {
      this.#status = line;
      const refusal = REFUSALS.get(line);
      if (refusal !== undefined) throw new HgError('HG_REMOTE_ABORT', refusal, { ...where, status: line });
      if (line === '0') return;
      throw new HgError('HG_CORRUPT', 'the status of a stream is not known', { ...where, status: printable(line) });
    }
    const [files = '', bytes = '', ...rest] = line.split(' ');
    if (rest.length > 0) {
      throw new HgError('HG_CORRUPT', 'a stream announces more than two numbers', { ...where, line: printable(line) });
    }
    const announced = {
      fileCount: readDecimal(files, 'the announced number of files', () => where),
      byteCount: readDecimal(bytes, 'the announced size', () => where),
    };
    this.#stream = new StreamV1Decoder(announced, this.#open(announced), this.#offset);
  }
}
