import { readFile } from 'node:fs/promises';
import { HgError } from '@quicksilver/hg-types';
import { bootId } from '@quicksilver/native';
import type { WriteReceipt } from '@quicksilver/stream-clone';
import { lockOptions, type MirrorContext } from './context.ts';
import { makeDirectory, writeDurably } from './durable.ts';
import type { FetchReceipt } from './fetch.ts';
import { readableReceipt } from './generations.ts';
import { Lane, readLane } from './lane/lane.ts';
import { isCount, isObject, type LaneRecord } from './lane/record.ts';
import { stagingName } from './layout.ts';
import type { TaskRef } from './task-ref.ts';
import { emptyTrash, trashStaging } from './trash.ts';
import type { Volume } from './volume.ts';

/** What an attempt has written, complete and sealed. */
export interface Written {
  readonly fence: number;
  /** Name below `staging/`. */
  readonly staging: string;
  readonly write: CloneWrite;
}

/** What the engine wrote, and how the bundle came here if it had to be fetched. */
export interface CloneWrite extends WriteReceipt {
  readonly fetch?: FetchReceipt | undefined;
}

export interface Attempt {
  readonly fence: number;
  readonly staging: string;
}

export interface LaneTask {
  readonly task: TaskRef;
  readonly mirror: string;
}

/** Takes the lane of a mirror for as long as one short step; what it waits for is reported. */
export function holdLane(
  volume: Volume,
  mirror: string,
  stage: MirrorContext & { stage: 'plan' | 'seal' | 'publish' },
): Promise<Lane> {
  return Lane.acquire(volume, mirror, lockOptions(stage, stage.stage));
}

/**
 * The next fence of the lane and an empty directory that belongs to it alone. A task that is sealed or settled gets
 * none: what it has written is returned, or its end is thrown. What earlier attempts of the task left is removed.
 *
 * @throws HgError HG_FENCED when a later task has the lane or this one has failed, HG_CANCELLED when it was cancelled.
 */
export async function takeFence(
  volume: Volume,
  { task, mirror }: LaneTask,
  ctx: MirrorContext,
): Promise<Attempt | Written> {
  let attempt: Attempt;
  let trash: string[];
  {
    await using lane = await holdLane(volume, mirror, { ...ctx, stage: 'plan' });
    await ctx.checkpoint?.('clone-lane-held');
    const { record } = lane;
    if (record) refuseOvertaken(record, task);
    if (record?.task.number === task.number && record.state !== 'writing') return recordedEnd(volume, record);
    const fence = (record?.fence ?? 0) + 1;
    const lastGeneration = record?.lastGeneration ?? 0;
    attempt = { fence, staging: stagingName(task.id, fence) };
    // The fence comes first: from here on no earlier attempt can seal, and the janitor knows whose directory it is.
    await lane.write({ task, action: 'clone', fence, state: 'writing', lastGeneration });
    await ctx.checkpoint?.('clone-fence-taken');
    trash = await trashStaging(volume, task.id);
    await ctx.checkpoint?.('clone-old-staging-trashed');
    await makeDirectory(volume.paths.staging(attempt.staging), volume.access);
    await ctx.checkpoint?.('clone-staging-made');
  }
  // Before writing, so that what a dead attempt left does not take the room of this one.
  await emptyTrash(trash);
  return attempt;
}

/**
 * Says that the bytes of an attempt are complete, if its fence is still the latest. From here on no attempt of this
 * task writes any more.
 */
export async function seal(
  volume: Volume,
  { task, mirror }: LaneTask,
  ctx: MirrorContext & { written: Written },
): Promise<void> {
  const { written } = ctx;
  await using lane = await holdLane(volume, mirror, { ...ctx, stage: 'seal' });
  const { record } = lane;
  if (!record || record.task.id !== task.id || record.fence !== written.fence || record.state !== 'writing') {
    // A later attempt or a later task has the lane, or this task was settled meanwhile.
    throw new HgError('HG_FENCED', 'the attempt was overtaken while it wrote', { mirror, fence: written.fence });
  }
  const path = volume.paths.staging(`${written.staging}.write.json`);
  await writeDurably(path, JSON.stringify({ v: 1, write: written.write }), {
    part: volume.paths.staging(`${written.staging}.part`),
  });
  await ctx.checkpoint?.('clone-write-receipt');
  const { action, fence, lastGeneration } = record;
  await lane.write({ task, action, fence, state: 'sealed', lastGeneration });
  await ctx.checkpoint?.('clone-sealed');
}

/** @throws HgError HG_CANCELLED when the task was cancelled meanwhile, HG_FENCED when the attempt was overtaken. */
export async function checkStillCurrent(volume: Volume, { task, mirror }: LaneTask, attempt: Attempt): Promise<void> {
  const record = await readLane(volume, mirror);
  const own = record?.task.id === task.id;
  if (own && record.outcome?.state === 'cancelled')
    throw new HgError('HG_CANCELLED', 'the task was cancelled', { mirror });
  if (own && record.state === 'writing' && record.fence === attempt.fence) return;
  throw new HgError('HG_FENCED', 'the attempt was overtaken while it wrote', { mirror, fence: attempt.fence });
}

/** @throws HgError HG_FENCED when the lane belongs to a later task, or to another one of the same number. */
export function refuseOvertaken(record: LaneRecord, task: TaskRef): void {
  if (record.task.number < task.number) return;
  if (record.task.number === task.number && record.task.id === task.id) return;
  throw new HgError('HG_FENCED', 'a later task has the lane of this mirror', {
    mirror: record.mirror,
    task: task.number,
    lane: record.task.number,
  });
}

/** What a sealed or settled task has written. */
async function recordedEnd(volume: Volume, record: LaneRecord): Promise<Written> {
  const { mirror, fence, task } = record;
  if (record.state === 'sealed') {
    const staging = stagingName(task.id, fence);
    return { fence, staging, write: await readWriteReceipt(volume, staging) };
  }
  const { state, generation } = record.outcome ?? {};
  const receipt = generation === undefined ? undefined : await readableReceipt(volume, mirror, generation);
  if (receipt?.task.id === task.id) {
    return { fence: receipt.fence, staging: stagingName(task.id, receipt.fence), write: receipt.write };
  }
  if (state === 'cancelled') throw new HgError('HG_CANCELLED', 'the task was cancelled', { mirror });
  throw new HgError('HG_FENCED', 'the task has ended already', { mirror, state: state ?? 'unknown' });
}

async function readWriteReceipt(volume: Volume, staging: string): Promise<CloneWrite> {
  const file = volume.paths.staging(`${staging}.write.json`);
  const value: unknown = JSON.parse(await readFile(file, 'utf8'));
  if (!isObject(value) || value.v !== 1 || !isWriteReceipt(value.write)) {
    throw new HgError('HG_IO', 'the receipt of a sealed attempt cannot be read', { file });
  }
  return value.write;
}

/**
 * Whether bytes that were written but never flushed are from another boot: names and sizes may have outlived the
 * restart where contents have not. Another host of a network volume has another boot, which says nothing.
 */
export function isLostByRestart(volume: Volume, record: LaneRecord): boolean {
  return !volume.network && record.boot !== bootId();
}

/** Whether what came back through a queue is what a writer returns, as far as closing relies on it. */
export function isWritten(value: unknown): value is Written {
  return (
    isObject(value) &&
    isCount(value.fence) &&
    value.fence > 0 &&
    typeof value.staging === 'string' &&
    isWriteReceipt(value.write)
  );
}

function isWriteReceipt(value: unknown): value is CloneWrite {
  return (
    isObject(value) &&
    value.v === 1 &&
    isCount(value.files) &&
    isCount(value.bytes) &&
    isObject(value.source) &&
    isCount(value.source.size) &&
    typeof value.method === 'string' &&
    [value.requirements, value.bookmarks, value.phaseHeads, value.warnings].every(Array.isArray)
  );
}
