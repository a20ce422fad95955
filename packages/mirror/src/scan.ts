import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { faultRecord } from '@quicksilver/hg-types';
import { listGenerations, readableReceipt } from './generations.ts';
import { readLane } from './lane/lane.ts';
import type { LaneRecord } from './lane/record.ts';
import { shownGeneration } from './link.ts';
import { listMirrors } from './mirrors.ts';
import { parseMirrorName } from './names.ts';
import type { Receipt } from './receipt.ts';
import type { Volume } from './volume.ts';

/** What the disk says about a mirror. A database that was lost can be filled again from this. */
export interface MirrorFacts {
  readonly name: string;
  /** What to open; absent when nothing usable is shown. */
  readonly path: string | undefined;
  /** The generation shown, if it is there. */
  readonly generation: number | undefined;
  readonly receipt: Receipt | undefined;
  readonly lane: LaneRecord | undefined;
  /** Numbers of all generations on disk, the shown one and superseded ones. */
  readonly generations: readonly number[];
  /** What does not fit together, each in a sentence. */
  readonly problems: readonly string[];
}

export async function readMirror(volume: Volume, name: string): Promise<MirrorFacts> {
  const problems: string[] = [];
  const mirror = parseMirrorName(name);
  const lane = await readLane(volume, mirror).catch((err: unknown) => {
    problems.push(`the lane cannot be read: ${faultRecord(err).message}`);
    return undefined;
  });
  const entries = await listGenerations(volume, mirror);
  const linked = await shownGeneration(volume, mirror);
  const usable = linked !== undefined && (await isRepository(volume, mirror, linked));
  const receipt =
    linked === undefined ? undefined : await readableReceipt(volume, mirror, linked).catch(() => undefined);
  if (linked !== undefined && !usable) problems.push(`the link shows generation ${linked}, which is not there`);
  if (usable && !receipt) problems.push(`generation ${linked} is shown but has no readable receipt`);
  const recorded = lane?.state === 'settled' ? lane.outcome?.generation : undefined;
  if (recorded !== undefined && recorded !== linked) {
    problems.push(`the lane recorded generation ${recorded}, the link shows ${linked ?? 'none'}`);
  }
  return {
    name: mirror,
    path: usable ? volume.paths.link(mirror) : undefined,
    generation: usable ? linked : undefined,
    receipt: usable ? receipt : undefined,
    lane,
    generations: entries.filter((entry) => entry.repository).map((entry) => entry.n),
    problems,
  };
}

/** Every mirror of a volume, by name. Reads only; needs no lane to be free. */
export async function* scanVolume(volume: Volume): AsyncGenerator<MirrorFacts> {
  for (const name of await listMirrors(volume)) {
    try {
      parseMirrorName(name);
    } catch {
      continue; // a link that somebody else put there
    }
    yield await readMirror(volume, name);
  }
}

async function isRepository(volume: Volume, mirror: string, n: number): Promise<boolean> {
  const stat = await lstat(join(volume.paths.generation(mirror, n), '.hg', 'store')).catch(() => undefined);
  return stat?.isDirectory() ?? false;
}
