import { CloneResult, CloseData, MirrorRef, Problem, TaskOutcome, TaskRef } from '@quicksilver/jobs';
import { z } from 'zod';

/*
 * What the closer asks of an engine.
 */

const volume = z.string();
const lockDuration = z.int().positive();

/** Settle a task: publish it, or record why not. */
export const CloseWork = z.object({
  volume,
  lockDuration,
  job: CloseData,
  written: CloneResult.optional(),
  childProblem: Problem.optional(),
  cancelled: z.boolean(),
});
export type CloseWork = z.infer<typeof CloseWork>;

export const CancelWork = z.object({ volume, lockDuration, task: TaskRef, mirror: MirrorRef });
export type CancelWork = z.infer<typeof CancelWork>;

export const JanitorWork = z.object({ volume, graceMs: z.int().nonnegative() });
export type JanitorWork = z.infer<typeof JanitorWork>;

/** How the lane says that a task ended; told as soon as it is recorded, before old files are removed. */
export const SettledWork = TaskOutcome.omit({ v: true, taskId: true });
export type SettledWork = z.infer<typeof SettledWork>;
