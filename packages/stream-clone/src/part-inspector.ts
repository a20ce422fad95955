import { createHash } from 'node:crypto';
import {
  type PartConsumer,
  type PartHeader,
  PayloadCollector,
  readBookmarks,
  readPhaseHeads,
  readStream2Params,
  type Stream2Params,
  type StreamEntry,
  type StreamSink,
  StreamV2Decoder,
} from '@quicksilver/bundle';
import { latin1Text } from '@quicksilver/bytes';
import { hexNode } from '@quicksilver/hg-types';
import type { PartSummary, StreamedFileSummary, StreamSummary } from './summary.ts';

export interface InspectDetail {
  /** List every streamed file. */
  readonly files?: boolean | undefined;
  /** SHA-256 of the file, of each payload, and of each streamed file that is listed. */
  readonly digests?: boolean | undefined;
}

const MAX_SIDE_PART = 16 * 1024 * 1024;

/** Reads one part for its summary. */
export class PartInspector implements PartConsumer {
  readonly #header: PartHeader;
  readonly #digest: ReturnType<typeof createHash> | undefined;
  readonly #stream: StreamInspector | undefined;
  readonly #reader: PartConsumer | undefined;
  #size = 0;
  #lists: Pick<PartSummary, 'bookmarks' | 'phaseHeads'> = {};

  constructor(header: PartHeader, detail: InspectDetail) {
    this.#header = header;
    this.#digest = detail.digests ? createHash('sha256') : undefined;
    if (header.type === 'stream2') {
      this.#stream = new StreamInspector(readStream2Params(header), detail);
      this.#reader = this.#stream.decoder;
    } else if (header.type === 'bookmarks' || header.type === 'phase-heads') {
      const done = (payload: Uint8Array): void => this.#readList(payload);
      this.#reader = new PayloadCollector({ limit: MAX_SIDE_PART, part: header.type, done });
    }
  }

  data(bytes: Uint8Array): void {
    this.#size += bytes.length;
    this.#digest?.update(bytes);
    this.#reader?.data(bytes);
  }

  end(): void {
    this.#reader?.end();
  }

  get summary(): PartSummary {
    const { type, rawType, mandatory, id, headerSize, params } = this.#header;
    return {
      type,
      rawType,
      mandatory,
      id,
      headerSize,
      params: Array.from(params, ([name, param]) => ({ name, ...param })),
      payloadSize: this.#size,
      ...(this.#digest ? { payloadSha256: this.#digest.copy().digest('hex') } : {}),
      ...(this.#stream ? { stream: this.#stream.summary } : {}),
      ...this.#lists,
    };
  }

  #readList(payload: Uint8Array): void {
    if (this.#header.type === 'bookmarks') {
      const bookmarks = readBookmarks(payload);
      this.#lists = { bookmarks: bookmarks.map(({ name, node }) => ({ name, node: node ? hexNode(node) : null })) };
    } else {
      const heads = readPhaseHeads(payload);
      this.#lists = { phaseHeads: heads.map(({ phase, node }) => ({ phase, node: hexNode(node) })) };
    }
  }
}

class StreamInspector implements StreamSink {
  readonly decoder: StreamV2Decoder;
  readonly #params: Stream2Params;
  readonly #detail: InspectDetail;
  readonly #entries: StreamedFileSummary[] = [];
  #entry: StreamedFileSummary | undefined;
  #digest: ReturnType<typeof createHash> | undefined;
  #files = 0;
  #bytes = 0;

  constructor(params: Stream2Params, detail: InspectDetail) {
    this.#params = params;
    this.#detail = detail;
    this.decoder = new StreamV2Decoder(params, this);
  }

  file({ vfsKey, name, size }: StreamEntry): void {
    if (!this.#detail.files) return;
    this.#entry = { source: vfsKey, name: latin1Text(name), size };
    this.#digest = this.#detail.digests ? createHash('sha256') : undefined;
  }

  data(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    this.#digest?.update(bytes);
  }

  fileEnd(): void {
    this.#files++;
    if (!this.#entry) return;
    this.#entries.push({ ...this.#entry, ...(this.#digest ? { sha256: this.#digest.digest('hex') } : {}) });
  }

  get summary(): StreamSummary {
    return {
      announced: { files: this.#params.fileCount, bytes: this.#params.byteCount },
      requirements: this.#params.requirements,
      files: this.#files,
      bytes: this.#bytes,
      ...(this.#detail.files ? { entries: this.#entries } : {}),
    };
  }
}
