import { latin1Bytes, latin1Text, readU16, readU64 } from '@quicksilver/bytes';
import { HgError, printable, toHgError } from '@quicksilver/hg-types';
import { HGS1_COUNTS, HGS1_FIXED_BYTES, MAX_U16 } from './layout.ts';
import { joinRequirements, splitRequirements } from './stream-requirements.ts';
import type { Announced } from './streamed-files.ts';

/** What an `HGS1` file says before its first file. */
export interface Stream1Params extends Announced {
  readonly requirements: readonly string[];
}

/**
 * Layout: hg help internals.bundles has the first six bytes; then u64 number of files, u64 sum of their sizes, u16
 * length of the requirements, requirements (comma list) with a NUL at their end, which the length counts.
 * Undefined: more bytes are needed.
 */
export function readStream1Params(prefix: Uint8Array): { params: Stream1Params; bodyOffset: number } | undefined {
  const { files, bytes, list } = HGS1_COUNTS;
  if (prefix.length < list) return undefined;
  const bodyOffset = stream1HeaderSize(prefix);
  // Numbers that cannot be true are refused before what follows them is waited for.
  const counts = { fileCount: readCount(prefix, files), byteCount: readCount(prefix, bytes) };
  if (prefix.length < bodyOffset) return undefined;
  const text = latin1Text(prefix.subarray(list, bodyOffset));
  if (text === '' || text.indexOf('\0') !== text.length - 1) {
    throw new HgError('HG_CORRUPT', 'the list of requirements does not end as it must', {
      field: 'requirements',
      offset: list,
      value: printable(text),
    });
  }
  return { params: { ...counts, requirements: splitRequirements(text.slice(0, -1)) }, bodyOffset };
}

/** Length of the header as far as it is known: all of it once its fixed fields are there. */
export function stream1HeaderSize(prefix: Uint8Array): number {
  const { size, list } = HGS1_COUNTS;
  return prefix.length < list ? list : list + readU16(prefix, size);
}

function readCount(prefix: Uint8Array, at: number): number {
  try {
    return readU64(prefix, at);
  } catch (err) {
    throw toHgError(err, { field: 'counts', offset: at });
  }
}

export function writeStream1Header({ fileCount, byteCount, requirements }: Stream1Params): Uint8Array {
  const list = latin1Bytes(`${joinRequirements(requirements)}\0`);
  if (list.length > MAX_U16) {
    throw new HgError('HG_LIMIT', 'the list of requirements is too long', { length: list.length, limit: MAX_U16 });
  }
  const header = new Uint8Array(HGS1_COUNTS.list + list.length);
  const view = new DataView(header.buffer);
  header.set(latin1Bytes('HGS1UN').subarray(0, HGS1_FIXED_BYTES));
  view.setBigUint64(HGS1_COUNTS.files, BigInt(fileCount));
  view.setBigUint64(HGS1_COUNTS.bytes, BigInt(byteCount));
  view.setUint16(HGS1_COUNTS.size, list.length);
  header.set(list, HGS1_COUNTS.list);
  return header;
}
