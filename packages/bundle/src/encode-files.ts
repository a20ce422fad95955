import { latin1Bytes } from '@quicksilver/bytes';
import { HgError, printable } from '@quicksilver/hg-types';
import type { Announced, VfsKey } from './streamed-files.ts';

export interface StreamFile {
  readonly vfsKey: VfsKey;
  /** Store name; a string has one character per byte. */
  readonly name: Uint8Array | string;
  readonly size: number;
  readonly data: Iterable<Uint8Array> | Uint8Array;
}

/** What goes in front of a file's data. */
export type WriteEntry = (file: StreamFile, name: Uint8Array) => Uint8Array;

/** Files one after the other, each behind its announcement; gives how many there were, and their bytes. */
export function* encodeFiles(
  files: Iterable<StreamFile>,
  writeEntry: WriteEntry,
): Generator<Uint8Array, Announced, undefined> {
  let fileCount = 0;
  let byteCount = 0;
  for (const file of files) {
    const name = typeof file.name === 'string' ? latin1Bytes(file.name) : file.name;
    yield writeEntry(file, name);
    let written = 0;
    for (const piece of file.data instanceof Uint8Array ? [file.data] : file.data) {
      written += piece.length;
      yield piece;
    }
    checkAnnounced('size of a file', written, file.size);
    fileCount += 1;
    byteCount += written;
  }
  return { fileCount, byteCount };
}

/** The same, where number and sum were announced and must come true. */
export function* encodeAnnounced(
  files: Iterable<StreamFile>,
  writeEntry: WriteEntry,
  announced: Announced,
): Generator<Uint8Array> {
  const { fileCount, byteCount } = yield* encodeFiles(files, writeEntry);
  checkAnnounced('number of files', fileCount, announced.fileCount);
  checkAnnounced('total size', byteCount, announced.byteCount);
}

export function checkAnnounced(what: string, got: number, announced: number): void {
  if (got === announced) return;
  throw new HgError('HG_SOURCE_CHANGED', 'the files to stream are not as announced', {
    what: printable(what),
    got,
    announced,
  });
}
