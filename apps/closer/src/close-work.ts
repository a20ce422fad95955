import { VolumeAccess } from '@quicksilver/app-kit/engine';
import { CloneResult, CloseData, MirrorRef, Problem, TaskOutcome, TaskRef } from '@quicksilver/jobs';
import { z } from 'zod';

/*
 * What the closer asks of an engine.
 */

const place = { volume: z.string(), access: VolumeAccess };
const lockDuration = z.int().positive();

/** Settle a task: publish it, or record why not. */
export const CloseWork = z.object({
  ...place,
  lockDuration,
  job: CloseData,
  written: CloneResult.optional(),
  childProblem: Problem.optional(),
  cancelled: z.boolean(),
});
export type CloseWork = z.infer<typeof CloseWork>;

export const CancelWork = z.object({ ...place, lockDuration, task: TaskRef, mirror: MirrorRef });
export type CancelWork = z.infer<typeof CancelWork>;

/** Removing what cancels have moved to the trash. */
export const SweepWork = z.object(place);
export type SweepWork = z.infer<typeof SweepWork>;

export const JanitorWork = z.object({ ...place, graceMs: z.int().nonnegative() });
export type JanitorWork = z.infer<typeof JanitorWork>;

/** How the lane says that a task ended; told as soon as it is recorded, before old files are removed. */
export const SettledWork = TaskOutcome.omit({ v: true, taskId: true });
export type SettledWork = z.infer<typeof SettledWork>;
