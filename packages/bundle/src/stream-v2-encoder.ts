import { encodeVarint, latin1Bytes } from '@quicksilver/bytes';
import { HgError, printable } from '@quicksilver/hg-types';
import { writeBundleHeader } from './bundle-header.ts';
import { writePartHeader } from './part-header.ts';
import { endMarker, frameStream } from './payload-framing.ts';
import type { VfsKey } from './stream-v2-decoder.ts';
import { type Stream2Params, writeStream2Params } from './stream2-params.ts';

export interface StreamFile {
  readonly vfsKey: VfsKey;
  /** Store name; a string has one character per byte. */
  readonly name: Uint8Array | string;
  readonly size: number;
  readonly data: Iterable<Uint8Array> | Uint8Array;
}

export interface EncodeStreamOptions extends Stream2Params {
  readonly chunkSize?: number;
}

/** An HG20 bundle with one `stream2` part, as stock hg writes it; what is announced must come true. */
export function* encodeStreamBundle(files: Iterable<StreamFile>, options: EncodeStreamOptions): Generator<Uint8Array> {
  yield writeBundleHeader();
  yield writePartHeader({ type: 'STREAM2', id: 0, mandatory: writeStream2Params(options) });
  yield* frameStream(encodeStreamV2(files, options), options.chunkSize);
  yield endMarker();
}

/** The payload of a `stream2` part. */
export function* encodeStreamV2(
  files: Iterable<StreamFile>,
  announced: Pick<Stream2Params, 'fileCount' | 'byteCount'>,
): Generator<Uint8Array> {
  let count = 0;
  let total = 0;
  for (const file of files) {
    const name = typeof file.name === 'string' ? latin1Bytes(file.name) : file.name;
    yield encodeEntry(file, name);
    let written = 0;
    for (const piece of file.data instanceof Uint8Array ? [file.data] : file.data) {
      written += piece.length;
      yield piece;
    }
    if (written !== file.size) mismatch('size of a file', written, file.size);
    count += 1;
    total += written;
  }
  if (count !== announced.fileCount) mismatch('number of files', count, announced.fileCount);
  if (total !== announced.byteCount) mismatch('total size', total, announced.byteCount);
}

function encodeEntry(file: StreamFile, name: Uint8Array): Uint8Array {
  return Uint8Array.from([
    ...latin1Bytes(file.vfsKey),
    ...encodeVarint(name.length),
    ...encodeVarint(file.size),
    ...name,
  ]);
}

function mismatch(what: string, got: number, announced: number): never {
  throw new HgError('HG_SOURCE_CHANGED', 'the files to stream are not as announced', {
    what: printable(what),
    got,
    announced,
  });
}
