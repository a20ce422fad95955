import { encodeVarint, latin1Bytes } from '@quicksilver/bytes';
import { writeBundleHeader } from './bundle-header.ts';
import { encodeAnnounced, type StreamFile } from './encode-files.ts';
import { writePartHeader } from './part-header.ts';
import { endMarker, frameStream } from './payload-framing.ts';
import { type Stream2Params, writeStream2Params } from './stream2-params.ts';
import type { Announced } from './streamed-files.ts';

export interface EncodeStreamOptions extends Stream2Params {
  readonly chunkSize?: number | undefined;
}

/** An HG20 bundle with one `stream2` part, as stock hg writes it; what is announced must come true. */
export function* encodeStreamBundle(files: Iterable<StreamFile>, options: EncodeStreamOptions): Generator<Uint8Array> {
  yield writeBundleHeader();
  yield writePartHeader({ type: 'STREAM2', id: 0, mandatory: writeStream2Params(options) });
  yield* frameStream(encodeStreamV2(files, options), options.chunkSize);
  yield endMarker();
}

/** The payload of a `stream2` part. */
export function encodeStreamV2(files: Iterable<StreamFile>, announced: Announced): Generator<Uint8Array> {
  return encodeAnnounced(files, writeRecord, announced);
}

/** What versions 2 and 3 put in front of a file's data. */
export function writeRecord(file: StreamFile, name: Uint8Array): Uint8Array {
  return Uint8Array.from([
    ...latin1Bytes(file.vfsKey),
    ...encodeVarint(name.length),
    ...encodeVarint(file.size),
    ...name,
  ]);
}
