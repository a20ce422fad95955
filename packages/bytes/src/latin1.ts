import { Buffer } from 'node:buffer';
import { CodedError } from './coded-error.ts';

/** One character per byte: how names are held, since a name is bytes of no known encoding. */
export function latin1Text(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

/** The inverse of `latin1Text`; refuses characters that are not one byte, which Node would cut silently. */
export function latin1Bytes(text: string): Uint8Array {
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) > 0xff) {
      throw new CodedError('HG_CORRUPT', 'a character does not fit into one byte', { index: i });
    }
  }
  return new Uint8Array(Buffer.from(text, 'latin1'));
}
