import { createHash } from 'node:crypto';
import {
  Bundle2Decoder,
  type BundleHeader,
  type PartConsumer,
  type PartHeader,
  PayloadCollector,
  readBookmarks,
  readBundleHeader,
  readPhaseHeads,
  readStream2Params,
  readStream3Params,
  refuseUnknown,
  type StreamSink,
  StreamV1Decoder,
  StreamV2Decoder,
  StreamV3Decoder,
} from '../../src/index.ts';
import type { PartFacts, SidecarFile, SidecarName } from './sidecar.ts';

/** What one reading of a bundle came to, in a form that two readings can be compared by. */
export interface Outcome {
  /** 'ok', or the code of the error that ended the reading. */
  readonly code: string;
  readonly message: string;
  readonly where: unknown;
  readonly header: BundleHeader | undefined;
  /** All parts that were complete. */
  readonly parts: readonly PartFacts[];
  /** Every callback in order, pieces of data left out. */
  readonly events: readonly string[];
  readonly output: readonly string[];
  /** Files of a stream of version 1, which has no parts. */
  readonly files: readonly SidecarFile[];
  readonly trailing: number;
}

/**
 * Reads a bundle as a careful caller would: unknown parts by the rules, streams to their files, small parts collected
 * and parsed, the rest only counted. Only containers that are not compressed.
 */
export class Reading {
  readonly parts: PartFacts[] = [];
  readonly events: string[] = [];
  readonly output: string[] = [];
  readonly files: SidecarFile[] = [];
  header: BundleHeader | undefined;
  readonly #strict: boolean;
  #decoder: Bundle2Decoder | undefined;
  #stream1: StreamV1Decoder | undefined;
  #prefix: Uint8Array = new Uint8Array(0);

  /** Not strict: every part is taken, whatever it is. */
  constructor(strict = true) {
    this.#strict = strict;
  }

  get decoder(): Bundle2Decoder {
    this.#decoder ??= new Bundle2Decoder(
      {
        part: (header, offset) => this.#part(header, offset),
        output: (line) => this.output.push(line),
      },
      this.header?.bodyOffset ?? 0,
    );
    return this.#decoder;
  }

  get trailing(): number {
    return this.#stream1?.trailing ?? this.decoder.trailing;
  }

  push(piece: Uint8Array): void {
    if (this.header) {
      this.body(piece);
      return;
    }
    this.#prefix = new Uint8Array(Buffer.concat([this.#prefix, piece]));
    const header = readBundleHeader(this.#prefix, false);
    this.#begin(header);
    if (header) this.body(this.#prefix.subarray(header.bodyOffset));
  }

  end(): void {
    if (this.header === undefined) this.#begin(readBundleHeader(this.#prefix, true));
    if (this.header?.kind === 'HG20') this.decoder.end();
    this.#stream1?.end();
  }

  body(piece: Uint8Array): void {
    if (this.header?.kind === 'HG20') this.decoder.push(piece);
    this.#stream1?.push(piece);
  }

  #begin(header: BundleHeader | undefined): void {
    this.header = header;
    if (header?.kind !== 'HGS1') return;
    this.#stream1 = new StreamV1Decoder(header.stream, this.#sink(this.files), header.bodyOffset);
  }

  #part(header: PartHeader, offset: number): PartConsumer | 'skip' {
    this.events.push(`part ${header.rawType} at ${offset}`);
    if (this.#strict && refuseUnknown(header) === 'skip') return 'skip';
    const digest = createHash('sha256');
    const files: SidecarFile[] = [];
    const inner = this.#inner(header, files);
    let size = 0;
    const streamed = header.type === 'stream2' || header.type === 'stream3-exp' ? { files } : {};
    return {
      data: (bytes) => {
        digest.update(bytes);
        size += bytes.length;
        inner?.data(bytes);
      },
      end: () => {
        inner?.end();
        this.events.push(`end of ${header.rawType}`);
        const payload = { payload_size: size, payload_sha256: digest.digest('hex') };
        const entries = inner instanceof StreamV3Decoder ? { entry_count: inner.entryCount } : {};
        this.parts.push({ ...headerFacts(header), ...payload, ...streamed, ...entries });
      },
    };
  }

  #inner(header: PartHeader, files: SidecarFile[]): PartConsumer | undefined {
    switch (header.type) {
      case 'stream2':
        return new StreamV2Decoder(readStream2Params(header), this.#sink(files));
      case 'stream3-exp':
        readStream3Params(header);
        return new StreamV3Decoder((entries) => {
          this.events.push(`entries ${entries}`);
          return this.#sink(files);
        });
      case 'phase-heads':
        return collector(header, (payload) => readPhaseHeads(payload));
      case 'bookmarks':
        return collector(header, (payload) => readBookmarks(payload));
      default:
        return undefined;
    }
  }

  #sink(files: SidecarFile[]): StreamSink {
    let file: Omit<SidecarFile, 'sha256'> | undefined;
    let digest = createHash('sha256');
    return {
      file: ({ vfsKey, name, size }) => {
        file = { src: vfsKey, name: sidecarName(name), size };
        digest = createHash('sha256');
        this.events.push(`file ${vfsKey} ${Buffer.from(name).toString('latin1')} ${size}`);
      },
      data: (bytes) => {
        digest.update(bytes);
      },
      fileEnd: () => {
        const sha256 = digest.digest('hex');
        this.events.push(`file end ${sha256}`);
        if (file) files.push({ ...file, sha256 });
      },
    };
  }
}

/** Reads `bytes` in pieces whose lengths `next` gives; anything but a coded error is thrown on. */
export function outcomeOf(bytes: Uint8Array, next: () => number = () => bytes.length, strict = true): Outcome {
  const reading = new Reading(strict);
  let fault = { code: 'ok', message: '', where: {} as unknown };
  try {
    for (let at = 0; at < bytes.length; ) {
      const length = next();
      reading.push(bytes.subarray(at, at + length));
      at += length;
    }
    reading.end();
  } catch (err) {
    fault = faultOf(err);
  }
  const { header, parts, events, output, files, trailing } = reading;
  return { ...fault, header, parts, events, output, files, trailing };
}

/** The facts of a coded error; anything else is a bug and thrown on. */
export function faultOf(err: unknown): { code: string; message: string; where: unknown } {
  if (err instanceof Error && 'code' in err && String(err.code).startsWith('HG_') && 'where' in err) {
    return { code: String(err.code), message: err.message, where: err.where };
  }
  throw err;
}

/** The code of the error that `action` ends with, 'ok' if it ends well. */
export function codeOf(action: () => unknown): string {
  try {
    action();
  } catch (err) {
    return faultOf(err).code;
  }
  return 'ok';
}

function collector(header: PartHeader, done: (payload: Uint8Array) => unknown): PayloadCollector {
  return new PayloadCollector({ limit: 1 << 20, part: header.type, done });
}

function headerFacts(header: PartHeader): Omit<PartFacts, 'payload_size' | 'payload_sha256'> {
  const side = (mandatory: boolean): [string, string][] =>
    [...header.params].filter(([, param]) => param.mandatory === mandatory).map(([key, { value }]) => [key, value]);
  return {
    type: header.type,
    raw_type: header.rawType,
    mandatory: header.mandatory,
    id: header.id,
    mandatory_params: side(true),
    advisory_params: side(false),
    header_size: header.headerSize,
  };
}

/** Spells a name as sidecars do. */
function sidecarName(name: Uint8Array): SidecarName {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(name);
  } catch {
    return { hex: Buffer.from(name).toString('hex') };
  }
}

export async function codeOfAsync(action: () => Promise<unknown>): Promise<string> {
  try {
    await action();
  } catch (err) {
    return faultOf(err).code;
  }
  return 'ok';
}
