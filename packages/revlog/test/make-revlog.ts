import { Buffer } from 'node:buffer';
import { bytesAccess, RevlogIndex, RevlogReader, revisionHash } from '../src/index.ts';

export interface MadeEntry {
  readonly chunk: Uint8Array;
  readonly textLength: number;
  /** Defaults to the revision itself: a full text. */
  readonly base?: number;
  readonly p1?: number;
  readonly p2?: number;
  readonly link?: number;
  readonly flags?: number;
  readonly node?: Uint8Array;
  /** Overrides that make an entry wrong. */
  readonly offset?: number;
  readonly storedLength?: number;
}

export interface MadeRevlog {
  readonly index: Buffer;
  readonly data: Buffer;
}

export const INLINE = 0x00010001;
export const INLINE_GENERALDELTA = 0x00030001;
export const SPLIT = 0x00000001;
export const SPLIT_GENERALDELTA = 0x00020001;

/** A revlog byte by byte, right or wrong. Entries without a node get one that is theirs alone. */
export function makeRevlog(header: number, entries: readonly MadeEntry[]): MadeRevlog {
  const index: Buffer[] = [];
  const data: Buffer[] = [];
  let offset = 0;
  entries.forEach((made, rev) => {
    const entry = Buffer.alloc(64);
    entry.writeUIntBE(made.offset ?? offset, 0, 6);
    entry.writeUInt16BE(made.flags ?? 0, 6);
    entry.writeInt32BE(made.storedLength ?? made.chunk.length, 8);
    entry.writeInt32BE(made.textLength, 12);
    entry.writeInt32BE(made.base ?? rev, 16);
    entry.writeInt32BE(made.link ?? rev, 20);
    entry.writeInt32BE(made.p1 ?? rev - 1, 24);
    entry.writeInt32BE(made.p2 ?? -1, 28);
    entry.set(made.node ?? nodeOf(rev), 32);
    if (rev === 0) entry.writeUInt32BE(header, 0);
    index.push(entry);
    (isInline(header) ? index : data).push(Buffer.from(made.chunk));
    offset += made.chunk.length;
  });
  return { index: Buffer.concat(index), data: Buffer.concat(data) };
}

export function reader({ index, data }: MadeRevlog, maxText?: number): RevlogReader {
  return new RevlogReader(RevlogIndex.parse(index, 'made'), bytesAccess(data, 'made.d'), maxText);
}

export function raw(text: string): Buffer {
  return Buffer.from(`u${text}`);
}

/** A stored delta: hunks of start, end and new text; stored as it is where its first byte is 0. */
export function delta(...hunks: readonly (readonly [start: number, end: number, text: string])[]): Buffer {
  return Buffer.concat(
    hunks.map(([start, end, text]) => Buffer.concat([words(start, end, Buffer.byteLength(text)), Buffer.from(text)])),
  );
}

export function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [at, value] of values.entries()) bytes.writeInt32BE(value, at * 4);
  return bytes;
}

function nodeOf(rev: number): Uint8Array {
  return revisionHash(new Uint8Array(20), new Uint8Array(20), Buffer.from(`node of ${rev}`));
}

function isInline(header: number): boolean {
  return (header & 0x00010000) !== 0;
}
