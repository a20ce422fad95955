import { createHash } from 'node:crypto';
import type { Announced, StreamEntry, StreamSink } from '@quicksilver/bundle';
import { latin1Text } from '@quicksilver/bytes';
import type { StreamedFileSummary, StreamSummary } from './summary.ts';

export interface InspectDetail {
  /** List every streamed file. */
  readonly files?: boolean | undefined;
  /** SHA-256 of the file, of each payload, and of each streamed file that is listed. */
  readonly digests?: boolean | undefined;
}

interface StreamFacts extends Partial<Announced> {
  readonly version: StreamSummary['version'];
  readonly requirements: readonly string[];
}

/** Looks at the files of a stream of any version as they pass. */
export class StreamInspector implements StreamSink {
  /** Version 3: entries that were announced. */
  groups: number | undefined;
  readonly #facts: StreamFacts;
  readonly #detail: InspectDetail;
  readonly #entries: StreamedFileSummary[] = [];
  #entry: StreamedFileSummary | undefined;
  #digest: ReturnType<typeof createHash> | undefined;
  #files = 0;
  #bytes = 0;

  constructor(facts: StreamFacts, detail: InspectDetail) {
    this.#facts = facts;
    this.#detail = detail;
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
    const { version, requirements, fileCount, byteCount } = this.#facts;
    const announced = fileCount !== undefined && byteCount !== undefined;
    return {
      version,
      ...(announced ? { announced: { files: fileCount, bytes: byteCount } } : {}),
      ...(this.groups === undefined ? {} : { groups: this.groups }),
      requirements,
      files: this.#files,
      bytes: this.#bytes,
      ...(this.#detail.files ? { entries: this.#entries } : {}),
    };
  }
}
