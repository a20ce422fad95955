import { join } from 'node:path';
import { HgError } from '@quicksilver/hg-types';
import { FileAccess } from './random-access.ts';
import { RevlogIndex } from './revlog-index.ts';
import { RevlogReader } from './revlog-reader.ts';

/** 64 million revisions. An index is held in memory. */
const MAX_INDEX_BYTES = 4 * 1024 * 1024 * 1024;

/** A revlog on disk: its index read whole, its data left where it is. */
export class RevlogFiles implements Disposable {
  readonly index: RevlogIndex;
  /** Undefined for an inline revlog, and where there is no `.d`. */
  readonly data: FileAccess | undefined;

  private constructor(index: RevlogIndex, data: FileAccess | undefined) {
    this.index = index;
    this.data = data;
  }

  /** `radix` is the name without `.i`, relative to `folder`. A revlog that is not there has no revisions. */
  static open(folder: string, radix: string): RevlogFiles {
    const index = RevlogIndex.parse(readIndex(folder, `${radix}.i`), radix);
    return new RevlogFiles(index, index.inline ? undefined : openIfThere(folder, `${radix}.d`));
  }

  reader(maxText?: number): RevlogReader {
    return new RevlogReader(this.index, this.data, maxText);
  }

  [Symbol.dispose](): void {
    this.data?.[Symbol.dispose]();
  }
}

function readIndex(folder: string, name: string): Uint8Array {
  using file = openIfThere(folder, name);
  if (file === undefined) return new Uint8Array(0);
  if (file.size > MAX_INDEX_BYTES) {
    throw new HgError('HG_LIMIT', 'an index is longer than the limit', {
      file: name,
      size: file.size,
      limit: MAX_INDEX_BYTES,
    });
  }
  return file.read(0, file.size);
}

function openIfThere(folder: string, name: string): FileAccess | undefined {
  try {
    return FileAccess.open(join(folder, name), name);
  } catch (err) {
    if (isNotFound(err)) return undefined;
    throw err;
  }
}

function isNotFound(err: unknown): boolean {
  return err instanceof HgError && err.code === 'HG_NOT_FOUND';
}
