import { HgError } from './hg-error.ts';

/** Length of a node in bytes (SHA-1). */
export const NODE_BYTES = 20;

/** 20 raw bytes that identify a revision: SHA-1 over sorted parents and text. Hex only at the edges. */
export type Node = Uint8Array;

/** Revision number, local to one revlog; -1 is the null revision. */
export type Rev = number;
export const NULL_REV: Rev = -1;

export const nullNode: Node = new Uint8Array(NODE_BYTES);

export function isNullNode(node: Node): boolean {
  return node.every((byte) => byte === 0);
}

export function hexNode(node: Node): string {
  return Buffer.from(node.buffer, node.byteOffset, node.byteLength).toString('hex');
}

/** @throws HgError HG_CORRUPT when `hex` is not 40 hexadecimal digits. */
export function nodeFromHex(hex: string): Node {
  if (!/^[0-9a-f]{40}$/i.test(hex)) throw new HgError('HG_CORRUPT', 'a node is 40 hexadecimal digits', { got: hex });
  return new Uint8Array(Buffer.from(hex, 'hex'));
}
