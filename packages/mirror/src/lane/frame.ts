import { createHash } from 'node:crypto';

/*
 * A text that is either whole or known not to be, at a fixed place in a file:
 *
 *   0   8  magic
 *   8   4  u32 length of the text in bytes
 *   12 32  SHA-256 of the text
 *   44     the text (UTF-8)
 */
const MAGIC = Buffer.from('QSFRAME1', 'latin1');
const LENGTH_AT = 8;
const DIGEST_AT = 12;
export const FRAME_HEADER = 44;

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

export function encodeFrame(text: string): Buffer {
  const body = Buffer.from(text);
  const header = Buffer.alloc(FRAME_HEADER);
  MAGIC.copy(header);
  header.writeUInt32BE(body.length, LENGTH_AT);
  sha256(body).copy(header, DIGEST_AT);
  return Buffer.concat([header, body]);
}

/** `empty`: nothing was ever written there. `torn`: a write was cut short, or the bytes are damaged. */
export type Frame = { readonly kind: 'empty' | 'torn' } | { readonly kind: 'whole'; readonly text: string };

export function decodeFrame(bytes: Buffer): Frame {
  if (bytes.every((byte) => byte === 0)) return { kind: 'empty' };
  if (bytes.length < FRAME_HEADER || !bytes.subarray(0, LENGTH_AT).equals(MAGIC)) return { kind: 'torn' };
  const length = bytes.readUInt32BE(LENGTH_AT);
  if (length > bytes.length - FRAME_HEADER) return { kind: 'torn' };
  const body = bytes.subarray(FRAME_HEADER, FRAME_HEADER + length);
  if (!sha256(body).equals(bytes.subarray(DIGEST_AT, FRAME_HEADER))) return { kind: 'torn' };
  return { kind: 'whole', text: body.toString('utf8') };
}
