/**
 * The payload of a `stream2` part, whole files one after the other, as a push decoder. Pieces of the payload may end
 * anywhere.
 */
import { FileRecords } from './file-records.ts';
import type { PartConsumer } from './part-consumer.ts';
import type { Stream2Params } from './stream2-params.ts';
import { StreamedFiles, type StreamSink } from './streamed-files.ts';

export class StreamV2Decoder implements PartConsumer {
  readonly #files: StreamedFiles;
  readonly #records: FileRecords;

  /** `baseOffset`: added to offsets in the payload that errors name. */
  constructor(params: Stream2Params, sink: StreamSink, baseOffset = 0) {
    this.#files = new StreamedFiles(() => sink, { what: { part: 'stream2' }, announced: params, offset: baseOffset });
    this.#records = new FileRecords(this.#files);
  }

  /** Files that are complete. */
  get files(): number {
    return this.#files.files;
  }

  /** Sum of the announced sizes of all files begun. */
  get bytes(): number {
    return this.#files.bytes;
  }

  data(bytes: Uint8Array): void {
    this.#files.feed(bytes, this.#step);
  }

  end(): void {
    if (!this.#records.idle || !this.#files.complete) throw this.#files.truncated();
    this.#files.checkSum();
  }

  readonly #step = (bytes: Uint8Array, at: number): number => {
    if (this.#records.idle && this.#files.complete) throw this.#files.leftover();
    return this.#records.step(bytes, at);
  };
}
