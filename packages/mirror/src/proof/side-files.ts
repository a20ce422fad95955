import { join } from 'node:path';
import { HgError, hexNode, type Node, nodeFromHex } from '@quicksilver/hg-types';
import type { RevlogIndex } from '@quicksilver/revlog';
import {
  applyPhaseHeads,
  type Bookmark,
  displayName,
  encodeBookmarks,
  encodePhaseRoots,
  isBookmarkName,
  parseBookmarks,
  parsePhaseRoots,
  type RevPhase,
} from '@quicksilver/store';
import type { WriteReceipt } from '@quicksilver/stream-clone';
import { readIfThere, replaceFile } from './small-files.ts';

export interface SideFileInput {
  readonly write: WriteReceipt;
  /** Of the changelog: which nodes there are. */
  readonly index: RevlogIndex;
  readonly part: () => string;
}

export interface SideFileFacts {
  readonly bookmarks: number;
  readonly warnings: readonly string[];
}

/** Phases and bookmarks: streamed files must be readable, parts beside the stream are applied. */
export async function proveSideFiles(root: string, input: SideFileInput): Promise<SideFileFacts> {
  const warnings: string[] = [];
  await bringPhases(root, input, warnings);
  const bookmarks = await bringBookmarks(root, input, warnings);
  return { bookmarks, warnings };
}

/** Roots of unknown nodes mean nothing to Mercurial either; heads of unknown nodes mean that the bundle is wrong. */
async function bringPhases(root: string, { write, index, part }: SideFileInput, warnings: string[]): Promise<void> {
  const path = join(root, '.hg', 'store', 'phaseroots');
  const roots = parsePhaseRoots((await readIfThere(path)) ?? '');
  const known = roots.flatMap(({ phase, node }): RevPhase[] => {
    const rev = index.findNode(node);
    return rev === undefined ? [] : [{ rev, phase }];
  });
  if (known.length < roots.length) warnings.push(`${roots.length - known.length} phase roots name unknown changesets`);
  const heads = write.phaseHeads.map(({ phase, node }): RevPhase => {
    const rev = index.findNode(nodeFromHex(node));
    if (rev === undefined) {
      throw new HgError('HG_CORRUPT', 'a phase head is no changeset of this repository', { part: 'phase-heads', node });
    }
    return { rev, phase };
  });
  if (heads.length === 0 || known.length === 0) return;
  const lowered = applyPhaseHeads(index.parentColumns(), known, heads);
  const bytes = encodePhaseRoots(lowered.map(({ rev, phase }) => ({ phase, node: index.nodeAt(rev) })));
  await replaceFile(path, bytes, { part: part(), like: join(root, '.hg', 'requires') });
}

/** Bookmarks of a part beside the stream, for nodes that exist; those of the store itself stay as they are. */
async function bringBookmarks(
  root: string,
  { write, index, part }: SideFileInput,
  warnings: string[],
): Promise<number> {
  const inStore = write.requirements.includes('bookmarksinstore');
  const path = join(root, '.hg', ...(inStore ? ['store'] : []), 'bookmarks');
  const present = new Map<string, Node>(
    parseBookmarks((await readIfThere(path)) ?? '').map(({ name, node }) => [name, node]),
  );
  const sent: Bookmark[] = [];
  for (const { name, node } of write.bookmarks) {
    const bytes = nodeFromHex(node);
    if (!isBookmarkName(name)) warnings.push('a bookmark was dropped: its name cannot be written');
    else if (index.findNode(bytes) !== undefined) sent.push({ name, node: bytes });
    else warnings.push(`bookmark ${displayName(name)} was dropped: its changeset ${hexNode(bytes)} is not there`);
  }
  if (
    sent.some(
      ({ name, node }) => present.get(name) === undefined || hexNode(node) !== hexNode(present.get(name) ?? node),
    )
  ) {
    for (const { name, node } of sent) present.set(name, node);
    const all = [...present].map(([name, node]) => ({ name, node }));
    await replaceFile(path, encodeBookmarks(all), { part: part(), like: join(root, '.hg', 'requires') });
  }
  return present.size;
}
