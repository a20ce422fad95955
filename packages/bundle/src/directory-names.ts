import { latin1Bytes, latin1Text } from '@quicksilver/bytes';

const SUFFIX = '.hg/';

/**
 * Names in streams of version 1 keep a directory `x.i/` apart from the revlog `x.i`: `.hg`, `.i` and `.d` at the end of
 * a directory have `.hg` appended. Undoes that; a name without it is given back as it is, uncopied.
 */
export function decodeDirectories(name: Uint8Array): Uint8Array {
  if (!Buffer.from(name.buffer, name.byteOffset, name.length).includes(SUFFIX)) return name;
  const text = latin1Text(name);
  const decoded = text.replace(/\.(hg|i|d)\.hg\//g, '.$1/');
  return decoded === text ? name : latin1Bytes(decoded);
}

export function encodeDirectories(name: string): string {
  return name.replace(/\.(hg|i|d)\//g, '.$1.hg/');
}
