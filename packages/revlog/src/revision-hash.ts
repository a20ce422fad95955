import { Buffer } from 'node:buffer';
import { createHash, hash } from 'node:crypto';
import { NODE_BYTES, type Node } from '@quicksilver/hg-types';

/** Up to here one copy and a one-shot hash cost less than a hash object. */
const ONE_SHOT = 4096;
const scratch = Buffer.alloc(ONE_SHOT);

/** The node of a text: SHA-1 over both parents in byte order, smaller first, and the text. */
export function revisionHash(p1: Node, p2: Node, text: Uint8Array): Node {
  const [low, high] = Buffer.compare(p1, p2) <= 0 ? [p1, p2] : [p2, p1];
  const size = 2 * NODE_BYTES + text.length;
  if (size > ONE_SHOT) return new Uint8Array(createHash('sha1').update(low).update(high).update(text).digest());
  scratch.set(low);
  scratch.set(high, NODE_BYTES);
  scratch.set(text, 2 * NODE_BYTES);
  return new Uint8Array(hash('sha1', scratch.subarray(0, size), 'buffer'));
}
