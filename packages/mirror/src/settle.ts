import { HgError } from '@quicksilver/hg-types';
import { type MirrorContext, report } from './context.ts';
import { holdLane, isLostByRestart, type LaneTask, type Written } from './fences.ts';
import { discardGeneration, findReceiptOfTask } from './generations.ts';
import type { Lane } from './lane/lane.ts';
import type { LaneOutcome, LaneRecord } from './lane/record.ts';
import { shownGeneration } from './link.ts';
import { failed, rethrowTransient, type Settled, settledFrom } from './outcome.ts';
import { publish } from './publish.ts';
import type { Receipt, ReceiptDraft } from './receipt.ts';
import { type Retired, retireMirror } from './retire.ts';
import { trashSpool } from './spool.ts';
import type { TaskRef } from './task-ref.ts';
import { trashStaging } from './trash.ts';
import type { Volume } from './volume.ts';

/** How a task is to end, unless the lane or a receipt says that it has ended, or begun to end, in another way. */
export type Ending =
  | { readonly kind: 'publish'; readonly draft: ReceiptDraft; readonly written: Written }
  | { readonly kind: 'retire' }
  | { readonly kind: 'end'; readonly outcome: LaneOutcome }
  /** Only what is already under way or recorded. */
  | { readonly kind: 'resume' };

export interface SettledWork {
  readonly settled: Settled;
  /** Out of everybody's way already; to be removed. */
  readonly trash: readonly string[];
}

/**
 * The one place where a task ends. Under the lane's lock, so whatever runs twice, late or at once finds the end that
 * is recorded and returns it; brief, since proving and flushing are done before.
 */
export async function settle(
  volume: Volume,
  { task, mirror }: LaneTask,
  ending: Ending,
  ctx: MirrorContext,
): Promise<SettledWork> {
  report(ctx, 'publish');
  await using lane = await holdLane(volume, mirror, { ...ctx, stage: 'publish' });
  await ctx.checkpoint?.('close-lane-held');
  const place = await findPlace(volume, lane, task);
  const { outcome, trash: retired } = await decide(volume, { lane, task, ending, place, ctx });
  const trash = [...retired, ...(await sweep(volume, { mirror, task, outcome }))];
  await ctx.checkpoint?.('close-swept');
  return { settled: await settledFrom(volume, mirror, outcome), trash };
}

/** Where a task stands, as the disk has it. */
interface Place {
  readonly standing: 'overtaken' | 'settled' | 'current' | 'new';
  readonly record: LaneRecord | undefined;
  /** The receipt that this task has written, and whether its generation was ever shown. */
  readonly own: Receipt | undefined;
  readonly shown: boolean;
}

async function findPlace(volume: Volume, lane: Lane, task: TaskRef): Promise<Place> {
  const { record } = lane;
  const own = await findReceiptOfTask(volume, lane.mirror, task);
  const link = own && (await shownGeneration(volume, lane.mirror));
  const shown = own !== undefined && link !== undefined && own.generation <= link;
  return { standing: standingOf(record, task), record, own, shown };
}

function standingOf(record: LaneRecord | undefined, task: TaskRef): Place['standing'] {
  if (!record || record.task.number < task.number) return 'new';
  if (record.task.number > task.number || record.task.id !== task.id) return 'overtaken';
  return record.state === 'settled' ? 'settled' : 'current';
}

interface Decision {
  readonly lane: Lane;
  readonly task: TaskRef;
  readonly ending: Ending;
  readonly place: Place;
  readonly ctx: MirrorContext;
}

async function decide(volume: Volume, decision: Decision): Promise<Retired> {
  const { lane, task, ending, place, ctx } = decision;
  const { standing, record } = place;
  if (standing === 'settled' && record?.outcome) return { outcome: record.outcome, trash: [] };
  if (standing === 'overtaken') return { outcome: overtakenEnd(lane.mirror, task, place), trash: [] };
  const retiring = standing === 'current' && record?.action === 'retire';
  if (retiring || ending.kind === 'retire') return retireMirror(volume, lane, { task, ctx });
  return { outcome: await endClone(volume, decision), trash: [] };
}

/**
 * The lane is no longer this task's to write. What it has shown stays shown. Else the number that the lane has come to
 * is told: whoever gives numbers out may have fallen behind it, and has to go on after it.
 */
function overtakenEnd(mirror: string, task: TaskRef, { own, shown, record }: Place): LaneOutcome {
  if (own && shown) return { state: 'ready', generation: own.generation };
  const where = { mirror, task: task.number, ...(record ? { lane: record.task.number } : {}) };
  return failed('publish', new HgError('HG_FENCED', 'a later task has the lane of this mirror', where));
}

async function endClone(volume: Volume, decision: Decision): Promise<LaneOutcome> {
  const { lane, ending } = decision;
  const { record, own, shown } = decision.place;
  const { mirror } = lane;
  if (own && shown) return recordEnd(decision, { state: 'ready', generation: own.generation });
  if (ending.kind === 'end' && (!own || ending.outcome.state === 'cancelled')) {
    return recordEnd(decision, ending.outcome);
  }
  if (own && !own.flushed && record && isLostByRestart(volume, record)) {
    return recordEnd(decision, failed('publish', new HgError('HG_WORKER_LOST', 'the machine restarted', { mirror })));
  }
  // Its receipt says that it was proved, so it goes on from there, whoever has come to close it and why.
  if (own) return tryPublish(volume, decision, own);
  if (ending.kind !== 'publish') throw new HgError('HG_FENCED', 'nothing of this task is under way', { mirror });
  if (record?.state !== 'sealed' || record.fence !== ending.written.fence) {
    throw new HgError('HG_FENCED', 'what was written is not what the lane has sealed', { mirror });
  }
  return tryPublish(volume, decision, ending.draft);
}

async function tryPublish(volume: Volume, decision: Decision, input: ReceiptDraft | Receipt): Promise<LaneOutcome> {
  const { lane, ctx } = decision;
  let generation: number;
  try {
    generation = await publish(volume, lane, input, ctx);
  } catch (err) {
    await rethrowTransient(err, { volume, signal: ctx.signal });
    const shown = await shownGeneration(volume, lane.mirror);
    const own = await findReceiptOfTask(volume, lane.mirror, decision.task);
    if (own && own.generation === shown) throw err; // it is shown: only the record is missing, and that is tried again
    return recordEnd(decision, failed('publish', err));
  }
  return recordEnd(decision, { state: 'ready', generation });
}

/** The one durable step that ends a task. */
async function recordEnd({ lane, task, place, ctx }: Decision, outcome: LaneOutcome): Promise<LaneOutcome> {
  const { record, standing } = place;
  const fence = standing === 'current' ? (record?.fence ?? 1) : (record?.fence ?? 0) + 1;
  const lastGeneration = Math.max(record?.lastGeneration ?? 0, outcome.generation ?? 0);
  await lane.write({ task, action: 'clone', fence, state: 'settled', outcome, lastGeneration });
  await ctx.checkpoint?.('close-settled');
  return outcome;
}

interface Swept {
  readonly mirror: string;
  readonly task: TaskRef;
  readonly outcome: LaneOutcome;
}

/** Clears away what a task leaves once its end is recorded; whoever finds the end recorded does it again. */
async function sweep(volume: Volume, { mirror, task, outcome }: Swept): Promise<string[]> {
  const trash = [...(await trashStaging(volume, task.id)), ...(await trashSpool(volume, task.id))];
  if (outcome.state === 'ready') return trash;
  const own = await findReceiptOfTask(volume, mirror, task);
  const shown = await shownGeneration(volume, mirror);
  if (!own || (shown !== undefined && own.generation <= shown)) return trash;
  return [...trash, ...(await discardGeneration(volume, mirror, own.generation))];
}
