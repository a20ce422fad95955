import { latin1Bytes, latin1Text } from '@quicksilver/bytes';
import { HgError } from '@quicksilver/hg-types';
import { directoryDecode, directoryEncode } from './directory-encoding.ts';

/**
 * fncache lists every revlog below `data/` and `meta/`, one per line, directory encoding applied, in no set order.
 * It is the only way back from a hashed path to a name, and what stream clone and verify go by.
 */
export function encodeFncache(names: Iterable<string>): Uint8Array {
  const lines: string[] = [];
  for (const name of names) {
    if (name === '' || name.includes('\n')) {
      throw new HgError('HG_UNSAFE_NAME', 'a name cannot be a line of fncache', { line: lines.length + 1 });
    }
    lines.push(directoryEncode(name), '\n');
  }
  return latin1Bytes(lines.join(''));
}

/** The names as a stream has them (directory encoding undone). */
export function parseFncache(bytes: Uint8Array): string[] {
  if (bytes.length === 0) return [];
  const lines = latin1Text(bytes).split('\n');
  if (lines.pop() !== '') {
    throw new HgError('HG_CORRUPT', 'the last line is not ended', { file: 'fncache', offset: bytes.length });
  }
  return lines.map((line, at) => {
    if (line === '') throw new HgError('HG_CORRUPT', 'a line is empty', { file: 'fncache', line: at + 1 });
    return directoryDecode(line);
  });
}
