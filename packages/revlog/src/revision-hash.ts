import { Buffer } from 'node:buffer';
import { createHash, hash } from 'node:crypto';
import { NODE_BYTES, type Node } from '@quicksilver/hg-types';

/** Up to here one copy and a one-shot hash cost less than a hash object. */
const ONE_SHOT = 4096;
const scratch = Buffer.alloc(ONE_SHOT);

export interface Parents {
  readonly p1: Node;
  readonly p2: Node;
}

/** The node of a text: SHA-1 over both parents in byte order, smaller first, and the text. */
export function revisionHash(p1: Node, p2: Node, text: Uint8Array): Node {
  const digest = latin1Digest(text, { p1, p2 });
  return Uint8Array.from({ length: NODE_BYTES }, (_, at) => digest.charCodeAt(at));
}

/** Whether a text gives a node; asked a million times, so nothing is made that a string does not need. */
export function isRevisionHash(node: Node, text: Uint8Array, parents: Parents): boolean {
  const digest = latin1Digest(text, parents);
  let differ = node.length ^ NODE_BYTES;
  for (let at = 0; at < NODE_BYTES; at++) differ |= (node[at] ?? 0) ^ digest.charCodeAt(at);
  return differ === 0;
}

/** As a string of one character per byte: a Buffer would cost more than the hash. */
function latin1Digest(text: Uint8Array, { p1, p2 }: Parents): string {
  const [low, high] = Buffer.compare(p1, p2) <= 0 ? [p1, p2] : [p2, p1];
  const size = 2 * NODE_BYTES + text.length;
  if (size > ONE_SHOT) return createHash('sha1').update(low).update(high).update(text).digest('binary');
  scratch.set(low);
  scratch.set(high, NODE_BYTES);
  scratch.set(text, 2 * NODE_BYTES);
  return hash('sha1', scratch.subarray(0, size), 'binary'); // Node's other name of latin1
}
