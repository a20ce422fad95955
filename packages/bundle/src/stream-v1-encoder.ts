import { latin1Bytes, latin1Text } from '@quicksilver/bytes';
import { HgError, printable } from '@quicksilver/hg-types';
import { encodeDirectories } from './directory-names.ts';
import { encodeAnnounced, type StreamFile } from './encode-files.ts';
import { type Stream1Params, writeStream1Header } from './stream-v1-header.ts';
import type { Announced } from './streamed-files.ts';

/** An `HGS1` file as stock hg writes it; what is announced must come true. */
export function* encodeStream1Bundle(files: Iterable<StreamFile>, params: Stream1Params): Generator<Uint8Array> {
  yield writeStream1Header(params);
  yield* encodeStreamV1(files, params);
}

/** The reply to `stream_out`. */
export function* encodeStreamOut(files: Iterable<StreamFile>, announced: Announced): Generator<Uint8Array> {
  yield latin1Bytes(`0\n${announced.fileCount} ${announced.byteCount}\n`);
  yield* encodeStreamV1(files, announced);
}

/** The files of a stream of version 1. */
export function encodeStreamV1(files: Iterable<StreamFile>, announced: Announced): Generator<Uint8Array> {
  return encodeAnnounced(files, writeEntry, announced);
}

function writeEntry({ vfsKey, size }: StreamFile, name: Uint8Array): Uint8Array {
  const text = latin1Text(name);
  if (vfsKey !== 's' || /[\0\n]/.test(text) || text === '') {
    const where = { source: vfsKey, name: printable(text) };
    throw new HgError('HG_USAGE', 'a stream of version 1 cannot hold this file', where);
  }
  return latin1Bytes(`${encodeDirectories(text)}\0${size}\n`);
}
