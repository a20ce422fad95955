import type { MirrorContext } from './context.ts';
import { syncDirectory } from './durable.ts';
import { tryHoldFoldersAlone } from './folders-lock.ts';
import type { Lane } from './lane/lane.ts';
import type { LaneOutcome } from './lane/record.ts';
import { removeEmptyFoldersAbove, removeLink } from './link.ts';
import type { TaskRef } from './task-ref.ts';
import { moveToTrash } from './trash.ts';
import type { Volume } from './volume.ts';

export interface Retired {
  readonly outcome: LaneOutcome;
  /** What is out of its place, to be removed. */
  readonly trash: readonly string[];
}

interface RetireOptions {
  readonly task: TaskRef;
  readonly ctx: MirrorContext;
}

/**
 * Takes a mirror out of service: link, then generations, then bundles. The lane is held, and stays: its numbers go on
 * where they were if the name is used again. Once begun it is always finished, also by whoever comes to cancel it.
 */
export async function retireMirror(volume: Volume, lane: Lane, { task, ctx }: RetireOptions): Promise<Retired> {
  const { mirror, record } = lane;
  const begun = record?.task.id === task.id && record.action === 'retire';
  const fence = (record?.fence ?? 0) + (begun ? 0 : 1);
  const lastGeneration = record?.lastGeneration ?? 0;
  // Recorded first: no attempt of an earlier task publishes any more.
  if (!begun) await lane.write({ task, action: 'retire', fence, state: 'writing', lastGeneration });
  await ctx.checkpoint?.('retire-recorded');

  await removeLink(volume, mirror);
  await ctx.checkpoint?.('retire-link-removed');
  const generations = await moveToTrash(volume, volume.paths.generations(mirror));
  await syncDirectory(volume.paths.folder('generations'));
  await ctx.checkpoint?.('retire-generations-trashed');
  const bundles = await moveToTrash(volume, volume.paths.bundles(mirror));
  await syncDirectory(volume.paths.folder('bundles'));
  await ctx.checkpoint?.('retire-bundles-trashed');

  const outcome: LaneOutcome = { state: 'ready' };
  await lane.write({ task, action: 'retire', fence, state: 'settled', outcome, lastGeneration });
  await ctx.checkpoint?.('retire-settled');

  // Somebody publishing right now may need the folders; the janitor removes what is left empty.
  await using folders = await tryHoldFoldersAlone(volume);
  if (folders) await removeEmptyFoldersAbove(volume, mirror);
  return { outcome, trash: [generations, bundles].flatMap((entry) => entry ?? []) };
}
