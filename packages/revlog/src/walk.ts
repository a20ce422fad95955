import type { Where } from '@quicksilver/bytes';
import { HgError, NULL_REV, type Rev } from '@quicksilver/hg-types';
import { type ChunkKind, chunkKind, unknownChunk } from './chunk.ts';
import { FirstBytes } from './first-bytes.ts';
import { DELTA_INFO_FLAGS, KNOWN_REVISION_FLAGS, REVISION_FLAG } from './layout.ts';
import { bytesAccess, type RandomAccess } from './random-access.ts';
import { hex } from './revlog-header.ts';
import type { RevlogIndex } from './revlog-index.ts';

export interface WalkOptions {
  /** The `.d`; an inline index needs none. */
  readonly data?: RandomAccess | undefined;
  /**
   * What link revisions may be: `own` in a changelog, where each revision links to itself; else the number of
   * changesets, which they stay below. Without it they only must not be negative.
   */
  readonly links?: 'own' | number;
  /** Whether to look at the first byte of each chunk; it costs one pass over small chunks, one read per large one. */
  readonly chunks?: boolean;
}

export interface WalkReport {
  readonly revisions: number;
  /** Bytes of all chunks; the size of the `.d`. */
  readonly storedBytes: number;
  /** Bytes of all full texts whose length was recorded. */
  readonly textBytes: number;
  readonly censored: number;
  /** How chunks are stored; all zero where `chunks` is false. */
  readonly chunks: Readonly<Record<ChunkKind, number>>;
}

/**
 * Checks every entry of an index against the others, the size of the data and the first byte of its chunk. It reads
 * no texts: a revlog that passes has its shape, and every revision has its bytes.
 *
 * @throws HgError naming file, revision and offset of the first entry that is wrong.
 */
export function walkRevlog(index: RevlogIndex, options: WalkOptions = {}): WalkReport {
  const data = index.inline ? bytesAccess(index.file, index.name) : (options.data ?? bytesAccess(NO_DATA, index.name));
  const walk = new Walk(index, data, options);
  for (let rev = 0; rev < index.length; rev++) walk.step(rev);
  return walk.finish();
}

const NO_DATA = new Uint8Array(0);

class Walk {
  readonly #index: RevlogIndex;
  readonly #data: RandomAccess;
  readonly #options: WalkOptions;
  readonly #knownFlags: number;
  readonly #first: FirstBytes | undefined;
  readonly #chunks: Record<ChunkKind, number> = { empty: 0, raw: 0, plain: 0, zlib: 0, zstd: 0 };
  #end = 0;
  #textBytes = 0;
  #censored = 0;

  constructor(index: RevlogIndex, data: RandomAccess, options: WalkOptions) {
    this.#index = index;
    this.#data = data;
    this.#options = options;
    this.#knownFlags = KNOWN_REVISION_FLAGS | (index.header.deltaInfo ? DELTA_INFO_FLAGS : 0);
    if (options.chunks !== false) this.#first = new FirstBytes(data, index.length);
  }

  step(rev: Rev): void {
    this.#checkPlace(rev);
    this.#checkRelations(rev);
    const flags = this.#index.flags(rev);
    if ((flags & ~this.#knownFlags) !== 0) {
      throw this.#fault(rev, 'HG_UNSUPPORTED', 'a revision has flags that are not known', {
        flags: hex(flags & ~this.#knownFlags),
      });
    }
    if ((flags & REVISION_FLAG.censored) !== 0) this.#censored++;
    if (this.#first) this.#checkChunk(rev, this.#first);
  }

  finish(): WalkReport {
    if (!this.#index.inline && this.#data.size > this.#end) {
      throw new HgError('HG_CORRUPT', 'the data goes on after the last revision', {
        file: this.#index.name,
        offset: this.#end,
        size: this.#data.size,
      });
    }
    return {
      revisions: this.#index.length,
      storedBytes: this.#end,
      textBytes: this.#textBytes,
      censored: this.#censored,
      chunks: this.#chunks,
    };
  }

  /** The chunk follows the one before it and lies inside the data. */
  #checkPlace(rev: Rev): void {
    const index = this.#index;
    const offset = index.offset(rev);
    const stored = index.storedLength(rev);
    const text = index.textLength(rev);
    if (offset !== this.#end) {
      throw this.#fault(rev, 'HG_CORRUPT', 'a chunk does not follow the one before it', {
        got: offset,
        expected: this.#end,
      });
    }
    if (stored < 0 || text < -1) throw this.#fault(rev, 'HG_CORRUPT', 'a length is negative', { stored, text });
    this.#end += stored;
    // An inline index was cut into entries by these lengths, so there they fit.
    if (!index.inline && this.#end > this.#data.size) {
      throw this.#fault(rev, 'HG_TRUNCATED', 'the data ends before the chunk does', {
        end: this.#end,
        size: this.#data.size,
      });
    }
    if (text > 0) this.#textBytes += text;
    if (stored === 0 && text > 0 && isFullText(index.base(rev), rev)) {
      throw this.#fault(rev, 'HG_CORRUPT', 'a text has no bytes', { text });
    }
  }

  /** Base, parents and link name revisions that can be there. */
  #checkRelations(rev: Rev): void {
    const index = this.#index;
    const base = index.base(rev);
    const p1 = index.p1(rev);
    const p2 = index.p2(rev);
    const link = index.linkRev(rev);
    if (base > rev || base < NULL_REV)
      throw this.#fault(rev, 'HG_CORRUPT', 'the base of a delta is no earlier revision', { base });
    if (p1 >= rev || p1 < NULL_REV || p2 >= rev || p2 < NULL_REV) {
      throw this.#fault(rev, 'HG_CORRUPT', 'a parent is no earlier revision', { p1, p2 });
    }
    const { links } = this.#options;
    if (link < 0 || (links === 'own' ? link !== rev : links !== undefined && link >= links)) {
      throw this.#fault(rev, 'HG_CORRUPT', 'a revision links to no changeset of this repository', { link });
    }
  }

  #checkChunk(rev: Rev, first: FirstBytes): void {
    if (this.#index.storedLength(rev) === 0) {
      this.#chunks.empty++;
      return;
    }
    const start = this.#index.chunkStart(rev);
    const byte = first.at(start);
    const kind = chunkKind(byte);
    if (kind === undefined) {
      throw unknownChunk(byte, { file: this.#index.name, rev, offset: start });
    }
    this.#chunks[kind]++;
  }

  #fault(rev: Rev, code: 'HG_CORRUPT' | 'HG_TRUNCATED' | 'HG_UNSUPPORTED', message: string, facts: Where): HgError {
    return new HgError(code, message, { file: this.#index.name, rev, offset: this.#index.entryStart(rev), ...facts });
  }
}

function isFullText(base: Rev, rev: Rev): boolean {
  return base === rev || base === NULL_REV;
}
