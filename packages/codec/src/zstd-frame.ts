/**
 * Finds where a zstd frame ends without decoding it: Node 24 decodes the first frame of its input and drops the rest
 * without a word, so every frame gets a decoder of its own that is fed exactly the frame. Layout: RFC 8878, 3.1.1.
 *
 *   descriptor -> rest of the frame header -> (block header -> block body)* -> checksum, if any -> complete
 */
import { Gatherer } from '@quicksilver/bytes';
import { codecError } from './errors.ts';
import {
  BLOCK_HEADER_BYTES,
  BLOCK_TYPE,
  CHECKSUM_BYTES,
  FRAME_MAGIC,
  MAGIC_BYTES,
  MAX_WINDOW,
  SKIPPABLE_MAGIC,
  SKIPPABLE_MAGIC_MASK,
} from './layout.ts';
import { littleEndian } from './little-endian.ts';

type State = 'magic' | 'descriptor' | 'header' | 'block-header' | 'block' | 'checksum' | 'complete';

const CONTENT_SIZE_BYTES = [0, 2, 4, 8] as const;
const DICTIONARY_ID_BYTES = [0, 1, 2, 4] as const;

export class ZstdFrame {
  readonly #gatherer = new Gatherer();
  #state: State = 'magic';
  /** Bytes of the field or block body that are still to come. */
  #wanted = MAGIC_BYTES;
  #descriptor = 0;
  #lastBlock = false;
  #offset: number;

  /** `offset`: where the frame lies in the input, for facts only. */
  constructor(offset = 0) {
    this.#offset = offset;
  }

  get complete(): boolean {
    return this.#state === 'complete';
  }

  /** Follows the frame through `piece` from `at` on; gives the offset behind its last byte that was there. */
  scan(piece: Uint8Array, at: number): number {
    let next = at;
    while (next < piece.length && this.#state !== 'complete') {
      if (this.#state === 'block') {
        const length = Math.min(this.#wanted, piece.length - next);
        this.#wanted -= length;
        next += length;
        if (this.#wanted === 0) this.#afterBlock();
      } else {
        const field = this.#gatherer.take(piece, next, this.#wanted);
        next += this.#gatherer.taken;
        if (field) this.#field(field);
      }
    }
    this.#offset += next - at;
    return next;
  }

  #expect(state: State, wanted: number): void {
    this.#state = state;
    this.#wanted = wanted;
  }

  #field(field: Uint8Array): void {
    switch (this.#state) {
      case 'magic':
        if (frameKind(field) !== 'data') throw this.#corrupt('there is no zstd frame where one must begin');
        this.#expect('descriptor', 1);
        break;
      case 'descriptor':
        this.#readDescriptor(field[0] ?? 0);
        break;
      case 'header':
        this.#checkWindow(field);
        this.#expect('block-header', BLOCK_HEADER_BYTES);
        break;
      case 'block-header':
        this.#blockHeader(littleEndian(field));
        break;
      case 'checksum':
        this.#expect('complete', 0);
        break;
      case 'block':
      case 'complete':
        break;
    }
  }

  #readDescriptor(descriptor: number): void {
    this.#descriptor = descriptor;
    if ((descriptor & 0x08) !== 0) throw this.#corrupt('a zstd frame uses a reserved bit');
    const { window, dictionary, content } = this.#headerSizes();
    // A header without any field does not exist: without a window there is a content size of one byte at least.
    this.#expect('header', window + dictionary + content);
  }

  #headerSizes(): { window: number; dictionary: number; content: number } {
    const single = (this.#descriptor & 0x20) !== 0;
    const content = CONTENT_SIZE_BYTES[(this.#descriptor >> 6) & 3] ?? 0;
    return {
      window: single ? 0 : 1,
      dictionary: DICTIONARY_ID_BYTES[this.#descriptor & 3] ?? 0,
      content: single && content === 0 ? 1 : content,
    };
  }

  /** The decoder allocates a window; a frame in a single segment is its own window. */
  #checkWindow(header: Uint8Array): void {
    const { window, dictionary, content } = this.#headerSizes();
    const size =
      window === 1 ? windowSize(header[0] ?? 0) : littleEndian(header.subarray(dictionary, dictionary + content));
    if (size <= MAX_WINDOW) return;
    throw codecError('HG_LIMIT', 'a zstd frame asks for too much memory', {
      codec: 'zstd',
      offset: this.#offset,
      window: size,
      limit: MAX_WINDOW,
    });
  }

  #blockHeader(header: number): void {
    const type = (header >> 1) & 3;
    const size = header >> 3;
    if (type === BLOCK_TYPE.reserved) throw this.#corrupt('a zstd block is of a reserved type');
    this.#lastBlock = (header & 1) === 1;
    this.#expect('block', type === BLOCK_TYPE.rle ? 1 : size);
    if (this.#wanted === 0) this.#afterBlock();
  }

  #afterBlock(): void {
    if (!this.#lastBlock) this.#expect('block-header', BLOCK_HEADER_BYTES);
    else if ((this.#descriptor & 0x04) !== 0) this.#expect('checksum', CHECKSUM_BYTES);
    else this.#expect('complete', 0);
  }

  #corrupt(message: string): Error {
    return codecError('HG_CORRUPT', message, { codec: 'zstd', offset: this.#offset });
  }
}

export type FrameKind = 'data' | 'skippable' | 'other';

/** What the four bytes of a magic number begin. */
export function frameKind(magic: Uint8Array): FrameKind {
  if (magic.length < MAGIC_BYTES) return 'other';
  const value = littleEndian(magic);
  if (value === FRAME_MAGIC) return 'data';
  return (value & SKIPPABLE_MAGIC_MASK) >>> 0 === SKIPPABLE_MAGIC ? 'skippable' : 'other';
}

/** True when `bytes`, fewer than a magic number has, may be the beginning of one. */
export function beginsFrame(bytes: Uint8Array): boolean {
  const fits = (magic: readonly number[]): boolean => bytes.every((byte, i) => byte === magic[i]);
  const first = bytes[0] ?? 0;
  return fits([0x28, 0xb5, 0x2f]) || ((first & 0xf0) === 0x50 && fits([first, 0x2a, 0x4d]));
}

function windowSize(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}
