/**
 * The bundle2 container as a push decoder: bytes in any pieces in, parts and views of their payloads out.
 *
 *   part-size --0--> finished (further bytes are only counted)
 *       |
 *   part-header --> visitor.part
 *       |
 *   chunk-size --n--> chunk (n bytes to the consumer) --> chunk-size
 *       |  '-- -1 --> interrupt: one whole part (part-size .. its last chunk-size), then chunk-size of the outer part
 *       0 --> consumer.end --> part-size
 *
 * Layout: hg help internals.bundle2. Nothing is allocated from a length in the input; a field cut by the border of
 * two pieces is gathered, everything else is handed out as views.
 */
import { Gatherer, readI32 } from '@quicksilver/bytes';
import { HgError, printable } from '@quicksilver/hg-types';
import { errorPartFault, isErrorPart } from './error-part.ts';
import { refuseUnknown, unknownFeature } from './known-parts.ts';
import { INTERRUPT, MAX_PART_HEADER, SIZE_BYTES } from './layout.ts';
import { OutputText } from './output-part.ts';
import type { PartConsumer } from './part-consumer.ts';
import { type PartHeader, readPartHeader } from './part-header.ts';

export interface Bundle2Visitor {
  /**
   * A part begins; `offset` is where its header lies. Gives the consumer of its payload, or skips it; throws to refuse
   * it (`refuseUnknown` knows what the format asks for). Error parts never come here: they end the reading.
   */
  part(header: PartHeader, offset: number): PartConsumer | 'skip';
  /** One line of an `output` part, also of one that interrupts another part, made safe to show. */
  output?(line: string): void;
}

type State = 'part-size' | 'part-header' | 'chunk-size' | 'chunk' | 'finished';

interface OpenPart {
  readonly name: string;
  readonly consumers: readonly PartConsumer[];
}

export class Bundle2Decoder {
  readonly #visitor: Bundle2Visitor;
  readonly #gatherer = new Gatherer();
  #state: State = 'part-size';
  #offset: number;
  /** Length of the field or chunk being read. */
  #wanted = SIZE_BYTES;
  #part: OpenPart | undefined;
  /** The part that waits for the end of an interrupt. */
  #outer: OpenPart | undefined;
  #trailing = 0;
  #failure: { readonly err: unknown } | undefined;

  /** `baseOffset`: where the first byte that will be pushed lies in the (decompressed) input; for facts only. */
  constructor(visitor: Bundle2Visitor, baseOffset = 0) {
    this.#visitor = visitor;
    this.#offset = baseOffset;
  }

  /** True once the end marker was seen. */
  get finished(): boolean {
    return this.#state === 'finished';
  }

  /** Offset behind the last byte that belongs to the container. */
  get offset(): number {
    return this.#offset;
  }

  /** Bytes pushed behind the end marker. */
  get trailing(): number {
    return this.#trailing;
  }

  /** Once an error was thrown, each further call throws it again. */
  push(bytes: Uint8Array): void {
    this.#guard(() => this.#read(bytes));
  }

  /** There are no more bytes. */
  end(): void {
    this.#guard(() => {
      if (this.#state === 'finished') return;
      throw new HgError('HG_TRUNCATED', 'the bundle ends before its end marker', {
        ...this.#facts(this.#state, this.#offset - this.#gatherer.held),
        wanted: this.#wanted,
        left: this.#gatherer.held,
      });
    });
  }

  #guard(action: () => void): void {
    if (this.#failure) throw this.#failure.err;
    try {
      action();
    } catch (err) {
      this.#failure = { err };
      throw err;
    }
  }

  #read(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#state === 'finished') {
        this.#trailing += bytes.length - at;
        return;
      }
      at += this.#state === 'chunk' ? this.#readChunk(bytes, at) : this.#readField(bytes, at);
    }
  }

  #readChunk(bytes: Uint8Array, at: number): number {
    const length = Math.min(this.#wanted, bytes.length - at);
    this.#offset += length;
    this.#wanted -= length;
    if (this.#wanted === 0) this.#expect('chunk-size', SIZE_BYTES);
    for (const consumer of this.#part?.consumers ?? []) consumer.data(bytes.subarray(at, at + length));
    return length;
  }

  #readField(bytes: Uint8Array, at: number): number {
    const field = this.#gatherer.take(bytes, at, this.#wanted);
    const { taken } = this.#gatherer;
    this.#offset += taken;
    if (field === undefined) return taken;
    const start = this.#offset - field.length;
    if (this.#state === 'part-size') this.#partSize(readI32(field, 0), start);
    else if (this.#state === 'part-header') this.#partHeader(readPartHeader(field, start));
    else this.#chunkSize(readI32(field, 0), start);
    return taken;
  }

  #expect(state: State, wanted: number): void {
    this.#state = state;
    this.#wanted = wanted;
  }

  #partSize(size: number, start: number): void {
    if (size < 0) throw new HgError('HG_CORRUPT', 'a size is negative', { ...this.#facts('part-size', start), size });
    if (size > MAX_PART_HEADER) {
      throw new HgError('HG_LIMIT', 'a part header is larger than one can be', {
        ...this.#facts('part-size', start),
        size,
        limit: MAX_PART_HEADER,
      });
    }
    if (size > 0) this.#expect('part-header', size);
    else if (this.#outer) this.#resume();
    else this.#expect('finished', 0);
  }

  #partHeader(header: PartHeader): void {
    if (isErrorPart(header)) throw errorPartFault(header);
    const consumers = this.#outer ? [] : this.#open(header);
    if (this.#outer) admitInterrupt(header);
    if (header.type === 'output' && this.#visitor.output) {
      consumers.push(new OutputText((line) => this.#visitor.output?.(line)));
    }
    this.#part = { name: printable(header.rawType), consumers };
    this.#expect('chunk-size', SIZE_BYTES);
  }

  #open(header: PartHeader): PartConsumer[] {
    const consumer = this.#visitor.part(header, header.offset);
    return consumer === 'skip' ? [] : [consumer];
  }

  #chunkSize(size: number, start: number): void {
    if (size > 0) {
      this.#expect('chunk', size);
    } else if (size === 0) {
      this.#endPart();
    } else if (size === INTERRUPT && this.#outer === undefined) {
      this.#outer = this.#part;
      this.#part = undefined;
      this.#expect('part-size', SIZE_BYTES);
    } else {
      const message = size === INTERRUPT ? 'an interrupt is interrupted' : 'a size is negative';
      throw new HgError('HG_CORRUPT', message, { ...this.#facts('chunk-size', start), size });
    }
  }

  #endPart(): void {
    const consumers = this.#part?.consumers ?? [];
    if (this.#outer) this.#resume();
    else {
      this.#part = undefined;
      this.#expect('part-size', SIZE_BYTES);
    }
    for (const consumer of consumers) consumer.end();
  }

  #resume(): void {
    this.#part = this.#outer;
    this.#outer = undefined;
    this.#expect('chunk-size', SIZE_BYTES);
  }

  #facts(reading: State, offset: number): Record<string, string | number> {
    const part = this.#part?.name ?? this.#outer?.name;
    return { reading: READING[reading], ...(part === undefined ? {} : { part }), offset };
  }
}

const READING: Readonly<Record<State, string>> = {
  'part-size': 'size of a part header',
  'part-header': 'part header',
  'chunk-size': 'size of a payload chunk',
  chunk: 'payload chunk',
  finished: 'nothing',
};

/** Only parts that stand for themselves may come in the middle of another one; `output` does, and errors. */
function admitInterrupt(header: PartHeader): void {
  if (refuseUnknown(header) === 'skip' || header.type === 'output' || !header.mandatory) return;
  throw unknownFeature(header);
}
