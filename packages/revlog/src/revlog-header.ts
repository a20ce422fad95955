import { HgError } from '@quicksilver/hg-types';
import { HEADER_BYTES, HEADER_FLAG, KNOWN_HEADER_FLAGS, VERSION_1 } from './layout.ts';

export interface RevlogHeader {
  /** The four bytes as one number: flags above, version below. */
  readonly value: number;
  /** Chunks lie between the entries of the index; there is no `.d` file. */
  readonly inline: boolean;
  /** A delta's base is named; otherwise deltas build on the revision before. */
  readonly generaldelta: boolean;
  /** Entries may have notes about their deltas. */
  readonly deltaInfo: boolean;
}

/** What the header of an empty or missing index amounts to. */
const EMPTY: RevlogHeader = { value: VERSION_1, inline: false, generaldelta: false, deltaInfo: false };

/** @throws HgError HG_UNSUPPORTED with the value for every version and flag that is not known. */
export function readRevlogHeader(bytes: Uint8Array, name: string): RevlogHeader {
  if (bytes.length === 0) return EMPTY;
  if (bytes.length < HEADER_BYTES) {
    throw new HgError('HG_TRUNCATED', 'the index ends inside its header', { file: name, size: bytes.length });
  }
  const value = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES).getUint32(0);
  const version = value & 0xffff;
  const flags = value >>> 16;
  if (version !== VERSION_1) {
    throw new HgError('HG_UNSUPPORTED', 'the revlog is of a version that is not read here', {
      file: name,
      version: hex(version),
      header: hex(value),
    });
  }
  if ((flags & ~KNOWN_HEADER_FLAGS) !== 0) {
    throw new HgError('HG_UNSUPPORTED', 'the revlog has flags that are not known', {
      file: name,
      flags: hex(flags & ~KNOWN_HEADER_FLAGS),
      header: hex(value),
    });
  }
  return {
    value,
    inline: (flags & HEADER_FLAG.inline) !== 0,
    generaldelta: (flags & HEADER_FLAG.generaldelta) !== 0,
    deltaInfo: (flags & (HEADER_FLAG.filelogMeta | HEADER_FLAG.deltaInfo)) !== 0,
  };
}

/** Requirements that a repository with such a revlog must have, whoever forgot to say so. */
export function requirementsOfHeader(header: RevlogHeader): string[] {
  return [
    'revlogv1',
    ...(header.generaldelta ? ['generaldelta'] : []),
    ...(header.deltaInfo ? ['delta-info-revlog'] : []),
  ];
}

export function hex(value: number): string {
  return `0x${value.toString(16)}`;
}
