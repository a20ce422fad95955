import { encodeVarint } from '@quicksilver/bytes';
import { writeBundleHeader } from './bundle-header.ts';
import { checkAnnounced, encodeFiles, type StreamFile } from './encode-files.ts';
import { writePartHeader } from './part-header.ts';
import { endMarker, frameStream } from './payload-framing.ts';
import { writeRecord } from './stream-v2-encoder.ts';
import { type Stream3Params, writeStream3Params } from './stream3-params.ts';

export interface EncodeStream3Options extends Stream3Params {
  readonly entryCount: number;
  readonly chunkSize?: number | undefined;
}

/** An HG20 bundle with one `stream3-exp` part, as stock hg writes it. An entry is a revlog's files, or one other. */
export function* encodeStream3Bundle(
  entries: Iterable<readonly StreamFile[]>,
  options: EncodeStream3Options,
): Generator<Uint8Array> {
  yield writeBundleHeader();
  yield writePartHeader({ type: 'STREAM3-EXP', id: 0, mandatory: writeStream3Params(options) });
  yield* frameStream(encodeStreamV3(entries, options.entryCount), options.chunkSize);
  yield endMarker();
}

/** The payload of a `stream3-exp` part. */
export function* encodeStreamV3(entries: Iterable<readonly StreamFile[]>, entryCount: number): Generator<Uint8Array> {
  yield encodeVarint(entryCount);
  let count = 0;
  for (const files of entries) {
    yield encodeVarint(files.length);
    yield* encodeFiles(files, writeRecord);
    count += 1;
  }
  checkAnnounced('number of entries', count, entryCount);
}
