/**
 * Decompression of bzip2 by the system's own library. A context is a `bz_stream` (bzlib.h) whose pointers lead into two
 * buffers of this class: calls run on a thread of koffi's, so nothing of them may move or be given back meanwhile.
 */
import { endianness } from 'node:os';
import { CodedError } from '@quicksilver/bytes';
import { koffiApi } from './libc.ts';

/** The name under which every distribution but a few has it, then theirs, then macOS's. */
const LIBRARIES = ['libbz2.so.1.0', 'libbz2.so.1', 'libbz2.1.0.dylib'] as const;

/** `bz_stream` where pointers have 64 bits: next_in, avail_in, next_out, avail_out among counters and hooks. */
const STREAM_BYTES = 80;
const NEXT_IN = 0;
const AVAIL_IN = 8;
const NEXT_OUT = 24;
const AVAIL_OUT = 32;

const BZ_OK = 0;
const BZ_STREAM_END = 4;
const BZ_MEM_ERROR = -3;
const BZ_DATA_ERROR_MAGIC = -5;

const INPUT_BYTES = 64 * 1024;
const OUTPUT_BYTES = 128 * 1024;
const LITTLE = endianness() === 'LE';

interface Decompress {
  async(stream: Uint8Array, done: (err: unknown, result: number) => void): void;
}

interface Library {
  readonly init: (stream: Uint8Array, verbosity: number, small: number) => number;
  readonly decompress: Decompress;
  readonly end: (stream: Uint8Array) => number;
  readonly address: (memory: Uint8Array) => bigint;
}

let library: Library | undefined;

/** What one call came to. */
export interface Bzip2Step {
  /** Bytes of the input that were used. */
  readonly used: number;
  /** What came out; a copy. */
  readonly output: Uint8Array;
  /** There was no more room for output: more may come without input. */
  readonly full: boolean;
  /** The end of the stream was seen, its checksum fits, and `used` ends with its last byte. */
  readonly ended: boolean;
}

/** One bzip2 stream. Dispose of it in any case: a context holds some megabytes that no garbage collector sees. */
export class Bzip2Decompressor implements Disposable {
  readonly #library: Library;
  readonly #stream = memory(STREAM_BYTES);
  readonly #fields = new DataView(this.#stream.buffer);
  readonly #input = memory(INPUT_BYTES);
  readonly #output = memory(OUTPUT_BYTES);
  #running = false;
  #disposed = false;

  private constructor(opened: Library) {
    this.#library = opened;
  }

  /**
   * @param names where to look for the library, one after the other.
   * @throws CodedError HG_UNSUPPORTED where the library is missing, HG_MEMORY where it cannot be set up.
   */
  static open(names: readonly string[] = LIBRARIES): Bzip2Decompressor {
    if (names !== LIBRARIES) return Bzip2Decompressor.#begin(openLibrary(names));
    library ??= openLibrary(names);
    return Bzip2Decompressor.#begin(library);
  }

  static #begin(opened: Library): Bzip2Decompressor {
    const context = new Bzip2Decompressor(opened);
    const result = opened.init(context.#stream, 0, 0);
    if (result !== BZ_OK)
      throw new CodedError('HG_MEMORY', 'a decompressor cannot be set up', { codec: 'bzip2', result });
    return context;
  }

  /** Goes on with `input`, off the event loop, for as long as there is input and room for output in one call. */
  async run(input: Uint8Array): Promise<Bzip2Step> {
    if (this.#disposed || this.#running) throw new CodedError('HG_CLOSED', 'a decompressor cannot be used now');
    const given = input.subarray(0, INPUT_BYTES);
    this.#input.set(given);
    this.#point(NEXT_IN, this.#input);
    this.#fields.setUint32(AVAIL_IN, given.length, LITTLE);
    this.#point(NEXT_OUT, this.#output);
    this.#fields.setUint32(AVAIL_OUT, OUTPUT_BYTES, LITTLE);
    const result = await this.#call();
    if (result !== BZ_OK && result !== BZ_STREAM_END) throw failure(result);
    const room = this.#fields.getUint32(AVAIL_OUT, LITTLE);
    return {
      used: given.length - this.#fields.getUint32(AVAIL_IN, LITTLE),
      output: this.#output.slice(0, OUTPUT_BYTES - room),
      full: room === 0,
      ended: result === BZ_STREAM_END,
    };
  }

  /** A call that is under way is waited for in the background: its thread still uses the context. */
  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    if (!this.#running) this.#library.end(this.#stream);
  }

  #point(field: number, target: Uint8Array): void {
    this.#fields.setBigUint64(field, this.#library.address(target), LITTLE);
  }

  #call(): Promise<number> {
    this.#running = true;
    return new Promise((resolve, reject) => {
      this.#library.decompress.async(this.#stream, (err, result) => {
        this.#running = false;
        if (this.#disposed) this.#library.end(this.#stream);
        if (err === null || err === undefined) resolve(result);
        else reject(err instanceof Error ? err : new Error('the call was not made', { cause: err }));
      });
    });
  }
}

/** Memory that the engine never moves: that of an ArrayBuffer of its own. */
function memory(size: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new ArrayBuffer(size));
}

function failure(result: number): CodedError {
  const where = { codec: 'bzip2', result };
  if (result === BZ_MEM_ERROR) return new CodedError('HG_MEMORY', 'memory ran out while decompressing', where);
  if (result === BZ_DATA_ERROR_MAGIC) {
    return new CodedError('HG_CORRUPT', 'the data is not compressed as it says', where);
  }
  return new CodedError('HG_CORRUPT', 'the compressed data is damaged', where);
}

function openLibrary(names: readonly string[]): Library {
  const koffi = koffiApi();
  for (const name of names) {
    if (koffi === undefined) break;
    try {
      const handle = koffi.load(name);
      return {
        init: handle.func('BZ2_bzDecompressInit', 'int', ['void *', 'int', 'int']) as Library['init'],
        decompress: handle.func('BZ2_bzDecompress', 'int', ['void *']) as Decompress,
        end: handle.func('BZ2_bzDecompressEnd', 'int', ['void *']) as Library['end'],
        address: (target) => koffi.address(target),
      };
    } catch {
      // Not under this name; the error below speaks of all.
    }
  }
  throw new CodedError('HG_UNSUPPORTED', 'bzip2 is read by a library of the system that is missing here', {
    library: names[0] ?? '',
    platform: `${process.platform}-${process.arch}`,
  });
}
