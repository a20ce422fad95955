import { join } from 'node:path';
import { HgError } from '@quicksilver/hg-types';
import type { ExpectedUse, StableBy } from '@quicksilver/mmap';
import { FileAccess, type FileUse } from './random-access.ts';
import { RevlogIndex } from './revlog-index.ts';
import { RevlogReader } from './revlog-reader.ts';

/** 64 million revisions. An index is held in memory, or mapped. */
const MAX_INDEX_BYTES = 4 * 1024 * 1024 * 1024;

export interface RevlogFilesOptions {
  /** Why nobody shortens the files meanwhile; then large ones are mapped. Undefined: they are read. */
  readonly stable?: StableBy | undefined;
  /** Whether most of the data will be looked at (`whole`, unless given) or few places of it. */
  readonly dataUse?: ExpectedUse | undefined;
}

/** A revlog on disk: its index whole, its data left where it is. Index, data and texts are there until dispose. */
export class RevlogFiles implements Disposable {
  readonly index: RevlogIndex;
  /** Undefined for an inline revlog, and where there is no `.d`. */
  readonly data: FileAccess | undefined;
  readonly #indexFile: FileAccess | undefined;

  private constructor(index: RevlogIndex, indexFile: FileAccess | undefined, data: FileAccess | undefined) {
    this.index = index;
    this.data = data;
    this.#indexFile = indexFile;
  }

  /** `radix` is the name without `.i`, relative to `folder`. A revlog that is not there has no revisions. */
  static open(folder: string, radix: string, { stable, dataUse }: RevlogFilesOptions = {}): RevlogFiles {
    const file = openIfThere(folder, `${radix}.i`, { stable, maxHeld: MAX_INDEX_BYTES });
    try {
      const index = RevlogIndex.parse(file === undefined ? NOTHING : indexBytes(file, `${radix}.i`), radix);
      const data = index.inline ? undefined : openIfThere(folder, `${radix}.d`, { stable, expectedUse: dataUse });
      return new RevlogFiles(index, file, data);
    } catch (err) {
      file?.[Symbol.dispose]();
      throw err;
    }
  }

  reader(maxText?: number): RevlogReader {
    return new RevlogReader(this.index, this.data, maxText);
  }

  [Symbol.dispose](): void {
    this.data?.[Symbol.dispose]();
    this.#indexFile?.[Symbol.dispose]();
  }
}

const NOTHING = new Uint8Array(0);

function indexBytes(file: FileAccess, name: string): Uint8Array {
  if (file.size > MAX_INDEX_BYTES) {
    throw new HgError('HG_LIMIT', 'an index is longer than the limit', {
      file: name,
      size: file.size,
      limit: MAX_INDEX_BYTES,
    });
  }
  return file.bytes;
}

function openIfThere(folder: string, name: string, use: FileUse): FileAccess | undefined {
  try {
    return FileAccess.open(join(folder, name), name, use);
  } catch (err) {
    if (isNotFound(err)) return undefined;
    throw err;
  }
}

function isNotFound(err: unknown): boolean {
  return err instanceof HgError && err.code === 'HG_NOT_FOUND';
}
