import { createHash } from 'node:crypto';

export interface RevlogFiles {
  readonly index: Buffer;
  /** Undefined where the chunks lie in the index. */
  readonly data: Buffer | undefined;
}

export interface Revision {
  readonly text: Buffer;
  /** Changelog revision that introduced it. */
  readonly link: number;
}

const INLINE = 0x00010000;
const GENERALDELTA = 0x00020000;
const VERSION = 1;
/** From this many bytes of chunks on, Mercurial keeps them in a file of their own. */
const SPLIT_AT = 131_072;
const NULL_NODE = Buffer.alloc(20);

/** A file log with one revision. */
export function filelog(text: Buffer, link: number): { node: string; files: RevlogFiles } {
  const { nodes, files } = linearLog([{ text, link }], text.length + 1 < SPLIT_AT ? 'inline' : 'split');
  return { node: nodes[0] ?? '', files };
}

/**
 * A revlog of full, uncompressed texts, each the child of the one before (hg help internals.revlogs). A changelog never
 * has the general-delta flag.
 */
export function linearLog(revisions: readonly Revision[], kind: 'inline' | 'split' | 'changelog') {
  const inline = kind !== 'split';
  const version = VERSION | (inline ? INLINE : 0) | (kind === 'changelog' ? 0 : GENERALDELTA);
  const index: Buffer[] = [];
  const data: Buffer[] = [];
  const nodes: string[] = [];
  let offset = 0;
  let parent = NULL_NODE;
  for (const [rev, { text, link }] of revisions.entries()) {
    // Parents are hashed in the order of their bytes, and the null node sorts first.
    const node = createHash('sha1').update(NULL_NODE).update(parent).update(text).digest();
    const chunk = text.length === 0 ? text : Buffer.concat([Buffer.from('u'), text]);
    const entry = Buffer.alloc(64);
    entry.writeUIntBE(offset, 0, 6);
    if (rev === 0) entry.writeUInt32BE(version, 0);
    entry.writeInt32BE(chunk.length, 8);
    entry.writeInt32BE(text.length, 12);
    entry.writeInt32BE(rev, 16);
    entry.writeInt32BE(link, 20);
    entry.writeInt32BE(rev - 1, 24);
    entry.writeInt32BE(-1, 28);
    node.copy(entry, 32);
    index.push(entry);
    (inline ? index : data).push(chunk);
    offset += chunk.length;
    nodes.push(node.toString('hex'));
    parent = node;
  }
  const files: RevlogFiles = { index: Buffer.concat(index), data: inline ? undefined : Buffer.concat(data) };
  return { nodes, files };
}
