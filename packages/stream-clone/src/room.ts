import { readdirSync, statfsSync } from 'node:fs';
import type { Announced } from '@quicksilver/bundle';
import { writeFault } from '@quicksilver/file-writer';
import { HgError } from '@quicksilver/hg-types';

/** The target must be there and hold nothing, and its volume must have room for what is announced. */
export function checkTarget(root: string, { fileCount, byteCount }: Announced): void {
  let names: string[];
  let free: number;
  let nodes: number;
  let totalNodes: number;
  try {
    names = readdirSync(root);
    const facts = statfsSync(root);
    free = facts.bavail * facts.bsize;
    nodes = facts.ffree;
    totalNodes = facts.files;
  } catch (err) {
    throw writeFault(err, { file: root });
  }
  if (names.length > 0) throw new HgError('HG_EXISTS', 'the target is not empty', { file: root });
  if (byteCount > free) {
    const where = { file: root, wantedBytes: byteCount, freeBytes: free };
    throw new HgError('HG_NO_SPACE', 'the volume has less room than the bundle announces', where);
  }
  // File systems that make inodes as they need them say that they have none at all.
  if (totalNodes > 0 && fileCount > nodes) {
    const where = { file: root, wantedFiles: fileCount, freeFiles: nodes };
    throw new HgError('HG_NO_SPACE', 'the volume has room for fewer files than the bundle announces', where);
  }
}
