import { access } from 'node:fs/promises';
import { type FaultRecord, faultRecord, type HgErrorCode } from '@quicksilver/hg-types';
import { readableReceipt } from './generations.ts';
import type { LaneOutcome, StagedFault } from './lane/record.ts';
import { boundedProblem } from './lane/record.ts';
import type { Receipt } from './receipt.ts';
import type { Volume } from './volume.ts';

/** How a task ended: the lane's record, with what belongs to it. A `ready` retire has neither generation nor path. */
export interface Settled {
  readonly state: LaneOutcome['state'];
  readonly generation?: number | undefined;
  /** What to open: the link, absolute. */
  readonly path?: string | undefined;
  readonly receipt?: Receipt | undefined;
  readonly problem?: StagedFault | undefined;
}

export async function settledFrom(volume: Volume, mirror: string, outcome: LaneOutcome): Promise<Settled> {
  const { state, generation, problem } = outcome;
  if (generation === undefined) return { state, problem };
  const receipt = await readableReceipt(volume, mirror, generation);
  return { state, generation, path: volume.paths.link(mirror), receipt };
}

export function failed(stage: string, err: unknown): LaneOutcome {
  return { state: 'failed', problem: stagedFault(stage, faultRecord(err)) };
}

export function stagedFault(stage: string, fault: FaultRecord): StagedFault {
  return boundedProblem({ ...fault, stage });
}

/** Passes when this process, not the work, lacks something: then the work is not settled but tried again. */
const TRANSIENT: ReadonlySet<string> = new Set<HgErrorCode>([
  'HG_TOO_MANY_FILES',
  'HG_MEMORY',
  'HG_LOCKED',
  'HG_CANCELLED',
]);

/**
 * Throws what is no verdict about the bytes: an abort from outside, want of handles or memory, or that the volume is
 * not there any more. A lane that was held then can still be written by way of its descriptor, and must not be.
 */
export async function rethrowTransient(err: unknown, at: { volume: Volume; signal: AbortSignal }): Promise<void> {
  if (at.signal.aborted || TRANSIENT.has(faultRecord(err).code)) throw err;
  await access(at.volume.paths.description).catch(() => {
    throw err;
  });
}
