import { randomUUID } from 'node:crypto';
import { type FaultRecord, faultError, faultRecord, HgError } from '@quicksilver/hg-types';
import type { WriteReceipt } from '@quicksilver/stream-clone';
import { DEFAULT_LOCK_DURATION, type MirrorContext, report } from './context.ts';
import { type CloneWrite, holdLane, isLostByRestart, isWritten, type LaneTask, type Written } from './fences.ts';
import { flushVolume } from './flush.ts';
import { findReceiptOfTask } from './generations.ts';
import { readLane } from './lane/lane.ts';
import type { LaneOutcome, LaneRecord } from './lane/record.ts';
import { stagingName } from './layout.ts';
import { parseMirrorName } from './names.ts';
import { failed, rethrowTransient, type Settled, stagedFault } from './outcome.ts';
import { proveQuick } from './proof/prove.ts';
import type { ReceiptDraft } from './receipt.ts';
import { type Ending, settle } from './settle.ts';
import type { CloneSource } from './source.ts';
import type { TaskRef } from './task-ref.ts';
import { emptyTrash } from './trash.ts';
import { ENGINE_VERSION } from './version.ts';
import type { Volume } from './volume.ts';

/** `Written` as plain data. */
export interface WrittenRecord {
  readonly fence: number;
  readonly staging: string;
  readonly write: Readonly<Record<string, unknown>> | WriteReceipt;
}

/** A fault as plain data; class and advice come from its code. */
export interface ChildProblem {
  readonly code: string;
  readonly message: string;
  readonly where?: FaultRecord['where'] | undefined;
  readonly stage?: string | undefined;
}

export interface CloseRequest {
  readonly task: TaskRef;
  readonly mirror: string;
  readonly action: 'publish' | 'retire';
  /** As the user named it, for the receipt. */
  readonly source?: CloneSource | undefined;
  /** What the writer returned, by way of a queue. Without it nothing is published, whatever lies on disk. */
  readonly written?: WrittenRecord | undefined;
  /** Why the writer returned nothing. */
  readonly childProblem?: ChildProblem | undefined;
  readonly cancelled: boolean;
  readonly flush: boolean;
  readonly verify: 'quick' | 'sample' | 'full';
}

export interface CloseContext extends MirrorContext {
  /** The end is recorded and can be told; what is still to do is removing trash. */
  readonly onSettled?: ((settled: Settled) => void) | undefined;
  /** True: what is out of everybody's way is left for `sweepTrash`, which others need not wait for. */
  readonly leaveTrash?: boolean | undefined;
}

/**
 * The closer's half of the main job: prove -> flush -> receipt -> publish -> settle, or settle as failed or cancelled.
 * Safe to run again, twice at once, and to be killed anywhere: all runs end in the one outcome that is recorded.
 *
 * What it throws is no verdict about the work (aborted, out of handles): the task is not settled, run it again.
 */
export async function closeTask(volume: Volume, request: CloseRequest, ctx: CloseContext): Promise<Settled> {
  const lane = { task: request.task, mirror: parseMirrorName(request.mirror) };
  await ctx.checkpoint?.('close-begun');
  const ending = await prepareEnding(volume, { ...request, ...lane }, ctx);
  return finish(volume, lane, { ending, ctx });
}

/** Ends a task as cancelled from any process, unless it has ended or is shown already. Nothing of it stays behind. */
export async function cancelTask(volume: Volume, request: LaneTask, ctx: CloseContext): Promise<Settled> {
  const lane = { task: request.task, mirror: parseMirrorName(request.mirror) };
  return finish(volume, lane, { ending: cancelled(), ctx });
}

async function finish(volume: Volume, lane: LaneTask, work: { ending: Ending; ctx: CloseContext }): Promise<Settled> {
  const { settled, trash } = await settle(volume, lane, work.ending, work.ctx).catch(async (err: unknown) => {
    if (!(await isWithoutLane(volume, lane, err)) || work.ending.kind !== 'end') throw err;
    return { settled: work.ending.outcome, trash: [] };
  });
  work.ctx.onSettled?.(settled);
  if (!work.ctx.leaveTrash) await emptyTrash(trash); // what resists is left to the janitor, who says so
  return settled;
}

/**
 * A volume that was full, or could not be written, before the first lane of a mirror was made: no attempt has ever
 * taken a fence there, so nothing was written, and the end is told without a record that has no room.
 */
async function isWithoutLane(volume: Volume, { mirror }: LaneTask, err: unknown): Promise<boolean> {
  const { code } = faultRecord(err);
  if (code !== 'HG_NO_SPACE' && code !== 'HG_READ_ONLY') return false;
  return (await readLane(volume, mirror)) === undefined;
}

function cancelled(): Ending {
  const problem = stagedFault('cancel', faultRecord(new HgError('HG_CANCELLED', 'the task was cancelled')));
  return { kind: 'end', outcome: { state: 'cancelled', problem } };
}

/** Everything that takes time, without the lane. */
async function prepareEnding(volume: Volume, request: CloseRequest, ctx: CloseContext): Promise<Ending> {
  if (request.cancelled || request.childProblem?.code === 'HG_CANCELLED') return cancelled();
  if (request.action === 'retire') return { kind: 'retire' };
  const record = await readLane(volume, request.mirror);
  if (await isPastProof(volume, request, record)) return { kind: 'resume' };
  const { written } = request;
  if (!written) {
    refuseForeignEnd(request, record);
    return { kind: 'end', outcome: childOutcome(request) };
  }
  if (request.verify !== 'quick') {
    return fail(
      'prove',
      new HgError('HG_NOT_YET', 'this level of proof is not supported yet', { level: request.verify }),
    );
  }
  if (!isWritten(written) || written.staging !== stagingName(request.task.id, written.fence)) {
    return fail('prove', new HgError('HG_USAGE', 'this is not what the writer of this task returns'));
  }
  await refuseLostBytes(volume, { request, record, ctx });
  return proveAndFlush(volume, { request, written }, ctx);
}

/** True when another run has come further, or the lane is not this task's any more: `settle` knows what to do. */
async function isPastProof(
  volume: Volume,
  { task, mirror }: LaneTask,
  record: LaneRecord | undefined,
): Promise<boolean> {
  if (record && (record.task.number > task.number || (record.task.id === task.id && record.state === 'settled')))
    return true;
  return (await findReceiptOfTask(volume, mirror, task)) !== undefined;
}

/**
 * An attempt that another attempt of the same task has overtaken is no verdict about the task: the other one's is.
 *
 * @throws HgError HG_LOCKED then: run this close again, it finds that end recorded.
 */
function refuseForeignEnd({ task, mirror, childProblem }: CloseRequest, record: LaneRecord | undefined): void {
  if (childProblem?.code !== 'HG_FENCED' || record?.task.id !== task.id) return;
  throw new HgError('HG_LOCKED', 'another attempt of this task is at work', { mirror, fence: record.fence });
}

function childOutcome({ childProblem }: CloseRequest): LaneOutcome {
  const lost = new HgError('HG_WORKER_LOST', 'the writer ended without a result');
  return failed(childProblem?.stage ?? 'write', childProblem ? faultError(childProblem) : lost);
}

function fail(stage: string, err: unknown): Ending {
  return { kind: 'end', outcome: failed(stage, err) };
}

/**
 * What was written but never flushed does not outlive a restart of the machine, whatever the names and sizes say. The
 * lane goes back to writing, so that another attempt of the task may write again.
 *
 * @throws HgError HG_FENCED then: this close has nothing to publish, and does not end the task.
 */
async function refuseLostBytes(
  volume: Volume,
  { request, record, ctx }: { request: CloseRequest; record: LaneRecord | undefined; ctx: CloseContext },
): Promise<void> {
  if (record?.task.id !== request.task.id) return;
  if (record.state === 'sealed' && !isLostByRestart(volume, record)) return;
  if (record.state === 'sealed') {
    await using lane = await holdLane(volume, request.mirror, { ...ctx, stage: 'publish' });
    if (lane.record?.fence === record.fence && lane.record.state === 'sealed') {
      const { task, action, fence, lastGeneration } = lane.record;
      await lane.write({ task, action, fence, state: 'writing', lastGeneration });
    }
  }
  throw new HgError('HG_FENCED', 'the machine restarted before the bytes were flushed: they are written again', {
    mirror: request.mirror,
    fence: record.fence,
  });
}

interface ProofInput {
  readonly request: CloseRequest;
  readonly written: Written;
}

async function proveAndFlush(volume: Volume, { request, written }: ProofInput, ctx: CloseContext): Promise<Ending> {
  const { task, mirror, flush } = request;
  const { fence, staging, write } = written;
  let stage = 'prove';
  try {
    report(ctx, 'prove');
    const part = () => volume.paths.staging(`${staging}.${randomUUID()}.part`);
    const proof = await proveQuick(volume.paths.staging(staging), write, { ...ctx, part });
    const proved = new Date().toISOString();
    await ctx.checkpoint?.('close-proved');

    stage = 'flush';
    if (flush) {
      report(ctx, 'flush');
      // A write-back that failed is lost for good: this ends the task, trying again would only hide it.
      await flushVolume(volume, { signal: ctx.signal, patience: ctx.lockDuration ?? DEFAULT_LOCK_DURATION });
    }
    await ctx.checkpoint?.('close-flushed');

    const draft: ReceiptDraft = {
      v: 1,
      mirror,
      task: { id: task.id, number: task.number },
      fence,
      engine: { name: 'quicksilver', version: ENGINE_VERSION },
      source: sourceOf(request, write),
      method: methodOf(write),
      proof,
      write,
      flushed: flush,
      warnings: [...write.warnings, ...proof.warnings],
      times: { proved, flushed: flush ? new Date().toISOString() : undefined },
    };
    return { kind: 'publish', draft, written };
  } catch (err) {
    await rethrowTransient(err, { volume, signal: ctx.signal });
    return fail(stage, err);
  }
}

function sourceOf({ source }: CloseRequest, write: CloneWrite): ReceiptDraft['source'] {
  if (write.fetch) return { kind: 'bundle-url', ...write.fetch };
  const path = source?.kind === 'bundle-file' ? source.path : write.source.path;
  return { kind: 'bundle-file', path, size: write.source.size };
}

/** The ladder has one rung yet: a bundle that the user gave. */
function methodOf(write: CloneWrite): ReceiptDraft['method'] {
  const what = write.fetch ? 'the address of a bundle' : 'a bundle file';
  return { name: write.method, why: `the source is ${what} that holds a stream clone` };
}
