import { readFileSync } from 'node:fs';

/** How often a file is mapped into this process. */
export function mappingsOf(path: string): number {
  return readFileSync('/proc/self/maps', 'utf8')
    .split('\n')
    .filter((line) => line.endsWith(` ${path}`)).length;
}

/** Bytes that tell their place, so that a wrong offset shows. */
export function pattern(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at++) bytes[at] = (at * 31 + (at >>> 8) * 7 + (at >>> 16)) & 0xff;
  return bytes;
}
