import { HgError, NODE_BYTES, type Node, type Rev } from '@quicksilver/hg-types';
import { ENTRY, ENTRY_BYTES } from './layout.ts';
import { NodeTable } from './node-table.ts';
import { plainBytes } from './random-access.ts';
import { type RevlogHeader, readRevlogHeader } from './revlog-header.ts';

export interface IndexEntry {
  readonly rev: Rev;
  /** Of the chunk among the data; entries between the chunks of an inline revlog are not counted. */
  readonly offset: number;
  readonly flags: number;
  readonly storedLength: number;
  /** -1 where it was not recorded. */
  readonly textLength: number;
  readonly base: Rev;
  readonly linkRev: Rev;
  readonly p1: Rev;
  readonly p2: Rev;
  readonly node: Node;
}

/**
 * The index of a revlog in memory, read as columns: no object per entry, since a changelog may have a million.
 * `parse` makes sure of the structure only (header, whole entries); `walkRevlog` checks what the entries say.
 */
export class RevlogIndex {
  readonly name: string;
  readonly header: RevlogHeader;
  /** Number of revisions. */
  readonly length: number;
  /** The file as given; chunks of an inline revlog are in here. */
  readonly file: Uint8Array;
  /** Entries one after the other, without the chunks of an inline revlog. */
  readonly #entries: Uint8Array;
  readonly #view: DataView;
  #nodes: NodeTable | undefined;

  private constructor(header: RevlogHeader, file: Uint8Array, entries: Uint8Array, name: string) {
    this.name = name;
    this.header = header;
    this.file = file;
    this.length = entries.length / ENTRY_BYTES;
    this.#entries = entries;
    this.#view = new DataView(entries.buffer, entries.byteOffset, entries.byteLength);
  }

  /** `bytes` is the whole `.i` file and must stay as it is; empty is a revlog without revisions. */
  static parse(bytes: Uint8Array, name: string): RevlogIndex {
    const header = readRevlogHeader(bytes, name);
    const file = plainBytes(bytes);
    if (header.inline) return new RevlogIndex(header, file, gatherInlineEntries(file, name), name);
    const left = file.length % ENTRY_BYTES;
    if (left !== 0) throw truncated(name, file.length - left, file.length);
    return new RevlogIndex(header, file, file, name);
  }

  get inline(): boolean {
    return this.header.inline;
  }

  get generaldelta(): boolean {
    return this.header.generaldelta;
  }

  /** One entry as an object. @throws HgError HG_CORRUPT when there is no such revision. */
  entry(rev: Rev): IndexEntry {
    this.#check(rev);
    return {
      rev,
      offset: this.offset(rev),
      flags: this.flags(rev),
      storedLength: this.storedLength(rev),
      textLength: this.textLength(rev),
      base: this.base(rev),
      linkRev: this.linkRev(rev),
      p1: this.p1(rev),
      p2: this.p2(rev),
      node: this.nodeAt(rev),
    };
  }

  /** A view of the node. @throws HgError HG_CORRUPT when there is no such revision. */
  nodeAt(rev: Rev): Node {
    this.#check(rev);
    const at = rev * ENTRY_BYTES + ENTRY.node;
    return this.#entries.subarray(at, at + NODE_BYTES);
  }

  findNode(node: Node): Rev | undefined {
    this.#nodes ??= new NodeTable(this.#view, this.length, this.name);
    return this.#nodes.find(node);
  }

  /** Revisions that are nobody's parent, rising. */
  heads(): Rev[] {
    const isParent = new Uint8Array(this.length);
    for (let rev = 0; rev < this.length; rev++) {
      // Writes outside of the array, as for -1, go nowhere.
      isParent[this.p1(rev)] = 1;
      isParent[this.p2(rev)] = 1;
    }
    const heads: Rev[] = [];
    for (let rev = 0; rev < this.length; rev++) if (isParent[rev] === 0) heads.push(rev);
    return heads;
  }

  /** Both parents of every revision as columns, -1 for none. */
  parentColumns(): { readonly p1: Int32Array; readonly p2: Int32Array } {
    const p1 = new Int32Array(this.length);
    const p2 = new Int32Array(this.length);
    for (let rev = 0; rev < this.length; rev++) {
      p1[rev] = this.p1(rev);
      p2[rev] = this.p2(rev);
    }
    return { p1, p2 };
  }

  /** Where the chunk begins in its file: the `.d`, or this index when it is inline. */
  chunkStart(rev: Rev): number {
    return this.header.inline ? this.offset(rev) + (rev + 1) * ENTRY_BYTES : this.offset(rev);
  }

  /** Where the entry begins in the `.i` file; what faults name. */
  entryStart(rev: Rev): number {
    return this.header.inline ? this.offset(rev) + rev * ENTRY_BYTES : rev * ENTRY_BYTES;
  }

  // Columns. They are read in tight loops: a revision outside the index is a RangeError of DataView.

  offset(rev: Rev): number {
    const at = rev * ENTRY_BYTES;
    // Two reads of at most 32 bits each: 48 bits always fit into a number.
    return (rev === 0 ? 0 : this.#view.getUint32(at) * 0x10000) + this.#view.getUint16(at + 4);
  }

  flags(rev: Rev): number {
    return this.#view.getUint16(rev * ENTRY_BYTES + ENTRY.flags);
  }

  storedLength(rev: Rev): number {
    return this.#view.getInt32(rev * ENTRY_BYTES + ENTRY.storedLength);
  }

  textLength(rev: Rev): number {
    return this.#view.getInt32(rev * ENTRY_BYTES + ENTRY.textLength);
  }

  base(rev: Rev): Rev {
    return this.#view.getInt32(rev * ENTRY_BYTES + ENTRY.base);
  }

  linkRev(rev: Rev): Rev {
    return this.#view.getInt32(rev * ENTRY_BYTES + ENTRY.linkRev);
  }

  p1(rev: Rev): Rev {
    return this.#view.getInt32(rev * ENTRY_BYTES + ENTRY.p1);
  }

  p2(rev: Rev): Rev {
    return this.#view.getInt32(rev * ENTRY_BYTES + ENTRY.p2);
  }

  #check(rev: Rev): void {
    if (Number.isInteger(rev) && rev >= 0 && rev < this.length) return;
    throw new HgError('HG_CORRUPT', 'the revlog has no such revision', {
      file: this.name,
      rev,
      revisions: this.length,
    });
  }
}

/** Entries of an inline revlog, brought together; their stored lengths say where the next one begins. */
function gatherInlineEntries(bytes: Uint8Array, name: string): Uint8Array {
  const entries = new Uint8Array(countInlineEntries(bytes, name) * ENTRY_BYTES);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  for (let to = 0; to < entries.length; to += ENTRY_BYTES) {
    entries.set(bytes.subarray(at, at + ENTRY_BYTES), to);
    at += ENTRY_BYTES + view.getInt32(at + ENTRY.storedLength);
  }
  return entries;
}

function countInlineEntries(bytes: Uint8Array, name: string): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let count = 0;
  let at = 0;
  while (at < bytes.length) {
    if (bytes.length - at < ENTRY_BYTES) throw truncated(name, at, bytes.length);
    const stored = view.getInt32(at + ENTRY.storedLength);
    if (stored < 0) {
      throw new HgError('HG_CORRUPT', 'a stored length is negative', {
        file: name,
        rev: count,
        offset: at,
        got: stored,
      });
    }
    at += ENTRY_BYTES + stored;
    if (at > bytes.length) throw truncated(name, at - stored, bytes.length);
    count++;
  }
  return count;
}

function truncated(name: string, offset: number, size: number): HgError {
  return new HgError('HG_TRUNCATED', 'the index ends inside an entry', { file: name, offset, size });
}
