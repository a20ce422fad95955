import type { MirrorRef, TaskRef } from '@quicksilver/jobs';
import type { z } from 'zod';

export interface TaskPayload {
  readonly task: TaskRef;
  readonly mirror: MirrorRef;
}

/** What the children of a flow's node left behind. */
export interface ChildOutcomes {
  readonly results: readonly unknown[];
  /** Reasons of children that failed and were let go (`ignoreDependencyOnFailure`). */
  readonly failures: readonly string[];
}

export interface JobContext {
  /** This process must let go of the job (draining, lost lock): stop, and settle nothing. */
  readonly signal: AbortSignal;
  /** A user wants the task gone. Aborted before `run` begins when the flag was set while the job waited. */
  readonly cancelSignal: AbortSignal;
  readonly onProgress: (value: unknown) => void;
  readonly children: () => Promise<ChildOutcomes>;
}

/** What an app does with the jobs of one kind; all of the queue's own rules are in `job-processor.ts`. */
export interface JobHandler<Data extends TaskPayload = TaskPayload, Result = unknown> {
  readonly schema: z.ZodType<Data>;
  /** The stage that a failure is put down to before the engine has named one. */
  readonly firstStage: string;
  /** True: a cancelled task ends this job, however `run` fails. False: the job settles the task, cancelled or not. */
  readonly cancelEnds: boolean;
  /** A retryable fault is tried again by the queue; any other ends the job for good. */
  run(data: Data, ctx: JobContext): Promise<Result>;
}
