import type { JobKind } from './names.ts';

/** BullMQ worker settings; complete per kind, so that a new kind does not compile without its own. Milliseconds. */
export interface WorkerSettings {
  readonly concurrency: number;
  readonly lockDuration: number;
  readonly stalledInterval: number;
  /** So high that roll-outs and crashes of ours never use up what belongs to the task. */
  readonly maxStalledCount: number;
}

export const WORKER_SETTINGS: Readonly<Record<JobKind, WorkerSettings>> = {
  clone: { concurrency: 2, lockDuration: 30_000, stalledInterval: 15_000, maxStalledCount: 1_000_000 },
  close: { concurrency: 2, lockDuration: 30_000, stalledInterval: 15_000, maxStalledCount: 1_000_000 },
};

/** Upper bound of a queue's event stream in Redis (entries), for every Queue object that is made. */
export const EVENT_STREAM_MAX = 1000;
/** At least this long between two progress updates of one job (milliseconds). */
export const PROGRESS_INTERVAL = 1000;
