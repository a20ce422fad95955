import { readFileSync, statSync } from 'node:fs';
import { ByteCursor } from '@quicksilver/bytes';
import { HgError } from '@quicksilver/hg-types';
import { parseBookmarks, parsePhaseRoots } from '@quicksilver/store';

const MAX_SIDE_FILE = 256 * 1024 * 1024;

/** Small files of the store that every hg reads when it opens a repository: one that is damaged would lock it up. */
const CHECKS: Readonly<Record<string, (bytes: Uint8Array) => void>> = {
  phaseroots: parsePhaseRoots,
  bookmarks: parseBookmarks,
  obsstore: checkObsstore,
};

/** `has`: whether the stream held a file of this name at the root of the store. */
export function checkSideFiles(root: string, has: (name: string) => boolean): void {
  for (const [name, check] of Object.entries(CHECKS)) {
    if (!has(name)) continue;
    const path = `.hg/store/${name}`;
    const { size } = statSync(`${root}/${path}`);
    if (size > MAX_SIDE_FILE) {
      throw new HgError('HG_LIMIT', 'a side file of the store is too large', {
        file: name,
        size,
        limit: MAX_SIDE_FILE,
      });
    }
    check(readFileSync(`${root}/${path}`));
  }
}

const NODE = 20;
const SHA256_NODES = 2;
const PARENTS_UNKNOWN = 3;

/**
 * Walks the markers by their lengths: a version byte, then to the end of the file
 *   version 0: u8 successors, u32 length of metadata, u8 flags, nodes, metadata
 *   version 1: u32 length of all, time (f64), zone (i16), u16 flags, u8 successors, u8 parents, u8 pairs, nodes, pairs
 */
export function checkObsstore(bytes: Uint8Array): void {
  if (bytes.length === 0) return;
  const cursor = new ByteCursor(bytes, 'obsstore');
  const version = cursor.u8();
  if (version > 1) throw new HgError('HG_UNSUPPORTED', 'the markers are of a version that is not known', { version });
  while (cursor.remaining > 0) {
    if (version === 0) skipMarker0(cursor);
    else skipMarker1(cursor);
  }
}

function skipMarker0(cursor: ByteCursor): void {
  const successors = cursor.u8();
  const metadata = cursor.u32();
  cursor.u8();
  cursor.skip(NODE * (1 + successors));
  cursor.skip(metadata);
}

function skipMarker1(cursor: ByteCursor): void {
  const { offset } = cursor;
  const size = cursor.u32();
  cursor.skip(8 + 2);
  const flags = cursor.u16();
  const successors = cursor.u8();
  const parents = cursor.u8();
  const pairs = cursor.u8();
  const nodes = 1 + successors + (parents === PARENTS_UNKNOWN ? 0 : parents);
  cursor.skip(nodes * ((flags & SHA256_NODES) === 0 ? NODE : 32));
  const lengths = Array.from({ length: 2 * pairs }, () => cursor.u8());
  cursor.skip(lengths.reduce((sum, length) => sum + length, 0));
  if (cursor.offset - offset !== size) {
    throw new HgError('HG_CORRUPT', 'a marker has another length than it says', { file: 'obsstore', offset, size });
  }
}
