import { Buffer } from 'node:buffer';
import { printable } from '@quicksilver/hg-types';

const MAX_SHOWN = 200;

/** A name for people: bytes read as UTF-8, control characters escaped, cut when long. Never used to open a file. */
export function displayName(name: string): string {
  const text = printable(Buffer.from(name, 'latin1').toString('utf8'));
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}... (${name.length} bytes)`;
}
