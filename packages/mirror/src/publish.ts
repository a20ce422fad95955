import { lstat, rename } from 'node:fs/promises';
import { lockOptions, type MirrorContext } from './context.ts';
import { hasErrno, makeDirectory, syncDirectory, writeDurably } from './durable.ts';
import { holdFolders } from './folders-lock.ts';
import { listGenerations } from './generations.ts';
import type { Lane } from './lane/lane.ts';
import { stagingName } from './layout.ts';
import { makeLinkFolders, renameLink, stageLink } from './link.ts';
import { encodeReceipt, type Receipt, type ReceiptDraft } from './receipt.ts';
import type { Volume } from './volume.ts';

/**
 * Makes a proved repository the one that is shown. Each step is durable before the next, so that after a kill anywhere
 * the receipt on disk says how to go on:
 *
 *   receipt <n>.json -> staging renamed to <n>/ -> link renamed -> (caller) lane settled
 *
 * The lane is held. @returns the number of the generation; it is shown when this returns.
 */
export async function publish(
  volume: Volume,
  lane: Lane,
  input: ReceiptDraft | Receipt,
  ctx: MirrorContext,
): Promise<number> {
  const { mirror } = lane;
  await using _folders = await holdFolders(volume, lockOptions(ctx, 'publish'));
  await makeLinkFolders(volume, mirror);
  const n = 'generation' in input ? input.generation : await nextGeneration(volume, lane);
  const staging = stagingName(input.task.id, input.fence);

  await makeDirectory(volume.paths.generations(mirror), volume.access);
  // Written again when a killed closer had come this far: `published` is the moment just before the link.
  const receipt = { ...input, generation: n, times: { ...input.times, published: new Date().toISOString() } };
  await ctx.checkpoint?.('close-receipt-staged');
  await writeDurably(volume.paths.receipt(mirror, n), encodeReceipt(receipt), {
    part: volume.paths.staging(`${staging}.receipt`),
    access: volume.access,
  });
  await ctx.checkpoint?.('close-receipt-durable');

  await renameUnlessDone(volume.paths.staging(staging), volume.paths.generation(mirror, n));
  await syncDirectory(volume.paths.generations(mirror));
  await syncDirectory(volume.paths.folder('staging'));
  await ctx.checkpoint?.('close-generation-renamed');

  const part = volume.paths.staging(`${staging}.link`);
  await stageLink(volume, mirror, { n, part });
  await ctx.checkpoint?.('close-link-staged');
  await renameLink(volume, mirror, part);
  await ctx.checkpoint?.('close-link-renamed');
  return n;
}

/** Above every number that the lane has given or that exists: numbers are never used twice. */
async function nextGeneration(volume: Volume, lane: Lane): Promise<number> {
  const existing = (await listGenerations(volume, lane.mirror)).at(-1)?.n ?? 0;
  return Math.max(existing, lane.record?.lastGeneration ?? 0) + 1;
}

async function renameUnlessDone(staging: string, generation: string): Promise<void> {
  try {
    await rename(staging, generation);
  } catch (err) {
    if (!hasErrno(err, 'ENOENT')) throw err;
    // Renamed before a kill: then it is at its place. Else it is lost, and this says so.
    await lstat(generation);
  }
}
