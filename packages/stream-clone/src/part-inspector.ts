import { createHash } from 'node:crypto';
import {
  type PartConsumer,
  type PartHeader,
  PayloadCollector,
  readBookmarks,
  readPhaseHeads,
  readStream2Params,
  readStream3Params,
  StreamV2Decoder,
  StreamV3Decoder,
} from '@quicksilver/bundle';
import { hexNode } from '@quicksilver/hg-types';
import { type InspectDetail, StreamInspector } from './stream-inspector.ts';
import type { PartSummary } from './summary.ts';

const MAX_SIDE_PART = 16 * 1024 * 1024;

/** Reads one part for its summary. */
export class PartInspector implements PartConsumer {
  readonly #header: PartHeader;
  readonly #digest: ReturnType<typeof createHash> | undefined;
  readonly #reader: PartConsumer | undefined;
  #stream: StreamInspector | undefined;
  #size = 0;
  #lists: Pick<PartSummary, 'bookmarks' | 'phaseHeads'> = {};

  constructor(header: PartHeader, detail: InspectDetail) {
    this.#header = header;
    this.#digest = detail.digests ? createHash('sha256') : undefined;
    this.#reader = this.#open(header, detail);
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

  #open(header: PartHeader, detail: InspectDetail): PartConsumer | undefined {
    switch (header.type) {
      case 'stream2': {
        const params = readStream2Params(header);
        this.#stream = new StreamInspector({ version: 2, ...params }, detail);
        return new StreamV2Decoder(params, this.#stream);
      }
      case 'stream3-exp': {
        const stream = new StreamInspector({ version: 3, ...readStream3Params(header) }, detail);
        this.#stream = stream;
        return new StreamV3Decoder((entryCount) => {
          stream.groups = entryCount;
          return stream;
        });
      }
      case 'bookmarks':
      case 'phase-heads': {
        const done = (payload: Uint8Array): void => this.#readList(payload);
        return new PayloadCollector({ limit: MAX_SIDE_PART, part: header.type, done });
      }
      default:
        return undefined;
    }
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
