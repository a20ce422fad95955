import { setTimeout as sleep } from 'node:timers/promises';
import { HgError, toHgError } from '@quicksilver/hg-types';
import { parsePayload } from '@quicksilver/jobs';
import { DelayedError, type Job, type Processor, UnrecoverableError, WaitingError } from 'bullmq';
import type { Logger } from 'pino';
import type { HealthResult } from '../health/health-registry.ts';
import { ActiveJob } from './active-job.ts';
import type { JobContext, JobHandler, TaskPayload } from './job-handler.ts';
import { encodeProblem, problemOf } from './problem.ts';
import { ProgressReport } from './progress-report.ts';

/** How a run of a processor ended, for metrics and logs. */
export type RunEnd = 'completed' | 'failed' | 'retried' | 'cancelled' | 'handed-back' | 'malformed';

export interface ProcessorOptions<Data extends TaskPayload, Result> {
  readonly handler: JobHandler<Data, Result>;
  readonly logger: Logger;
  /** True when the task's cancel flag is set. */
  readonly isCancelled: (taskId: string) => Promise<boolean>;
  /** Called with each job while it is under way; returns what takes it off again. */
  readonly track: (job: ActiveJob) => () => void;
  readonly ended: (end: RunEnd) => void;
  /** Whether jobs can be done here at all. A fault met while they cannot is this host's, not the job's. */
  readonly ready?: () => Promise<HealthResult>;
  /** How long a job that cannot be done here waits for another worker, or for this one to be put right. */
  readonly handBackDelay?: number;
}

const HAND_BACK_DELAY_MS = 5000;
/** A mount that hangs does not answer either. */
const READY_TIMEOUT_MS = 2000;

/** A plain failure: BullMQ tries again while the job has attempts left. No stack goes to Redis. */
class JobFault extends Error {
  override readonly name = 'JobFault';

  constructor(message: string) {
    super(message);
    this.stack = 'JobFault';
  }
}

/**
 * The queue's rules around a handler:
 *
 *   payload newer -> back with a delay | malformed -> failed for good
 *   cancelled     -> failed for good   | draining  -> back to waiting, no attempt used
 *   lock lost     -> whatever we say is refused by the queue: the new holder decides
 *   not fit here  -> back with a delay, no attempt used: a host without its mount must not end task after task
 *   fault         -> retryable: plain error (attempts, back-off) | lasting: failed for good
 */
export function jobProcessor<Data extends TaskPayload, Result>(
  options: ProcessorOptions<Data, Result>,
): Processor<unknown, unknown> {
  const { handler, ended, logger, handBackDelay = HAND_BACK_DELAY_MS } = options;
  // Three plain parameters, no defaults: BullMQ makes a signal only when the function's length is 3.
  return async (job, token, signal) => {
    const payload = parsePayload(handler.schema, job.data);
    if (payload.kind === 'newer') {
      logger.warn({ job: job.id, version: payload.version }, 'handed back: written by a newer version');
      await job.moveToDelayed(Date.now() + handBackDelay, token);
      ended('handed-back');
      throw new DelayedError();
    }
    if (payload.kind === 'malformed') {
      logger.error({ job: job.id, problem: payload.message }, 'malformed job');
      ended('malformed');
      const problem = problemOf(
        new HgError('HG_INTERNAL', 'the job cannot be read', { detail: payload.message }),
        'queue',
      );
      throw unrecoverable(encodeProblem({ ...problem, retryable: false }));
    }
    return await runTask(options, { job, token, signal, data: payload.data });
  };
}

interface Run<Data> {
  readonly job: Job<unknown>;
  readonly token: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly data: Data;
}

async function runTask<Data extends TaskPayload, Result>(
  options: ProcessorOptions<Data, Result>,
  { job, token, signal, data }: Run<Data>,
): Promise<Result> {
  const { handler, ended } = options;
  const { task, mirror } = data;
  const logger = options.logger.child({ job: job.id, task: task.id, mirror: mirror.name });
  const active = new ActiveJob(job.id ?? '', task, mirror);
  const untrack = options.track(active);
  const onAbort = () => active.stop('lock-lost');
  signal?.addEventListener('abort', onAbort);
  using progress = new ProgressReport({ taskId: task.id, write: (value) => job.updateProgress(value) });
  const began = performance.now();
  const seconds = () => Math.round(performance.now() - began) / 1000;
  try {
    if (await options.isCancelled(task.id)) active.cancel();
    if (active.cancelled && handler.cancelEnds) throw new HgError('HG_CANCELLED', 'the work was cancelled');
    logger.info({ attempt: job.attemptsMade + 1, starts: job.attemptsStarted }, 'job begins');
    const result = await handler.run(data, contextOf(job, active, progress));
    logger.info({ seconds: seconds() }, 'job done');
    ended('completed');
    return result;
  } catch (err) {
    const stage = progress.stage ?? handler.firstStage;
    const fault = problemOf(err, stage);
    if (active.cancelled && handler.cancelEnds) {
      logger.info({ seconds: seconds(), stage }, 'job cancelled');
      ended('cancelled');
      throw unrecoverable(encodeProblem(problemOf(new HgError('HG_CANCELLED', 'the work was cancelled'), stage)));
    }
    const interrupted = active.stopped !== undefined && (fault.retryable || fault.code === 'HG_CANCELLED');
    if (interrupted && active.stopped === 'draining') {
      await job.moveToWait(token);
      logger.info({ seconds: seconds() }, 'job handed back');
      ended('handed-back');
      throw new WaitingError();
    }
    const unfit = interrupted ? undefined : await whyUnfit(options.ready);
    if (unfit !== undefined) {
      await job.moveToDelayed(Date.now() + (options.handBackDelay ?? HAND_BACK_DELAY_MS), token);
      logger.warn({ seconds: seconds(), reason: unfit, problem: fault }, 'job handed back: it cannot be done here now');
      ended('handed-back');
      throw new DelayedError();
    }
    const facts = { seconds: seconds(), problem: fault, stopped: active.stopped };
    logger.warn(toHgError(err).class === 'bug' ? { ...facts, err } : facts, 'job failed');
    const final = !fault.retryable && !interrupted;
    ended(final ? 'failed' : 'retried');
    throw final ? unrecoverable(encodeProblem(fault)) : new JobFault(encodeProblem(fault));
  } finally {
    signal?.removeEventListener('abort', onAbort);
    untrack();
  }
}

/** @returns why no job can be done here; undefined when this host is in order */
async function whyUnfit(ready: (() => Promise<HealthResult>) | undefined): Promise<string | undefined> {
  if (!ready) return undefined;
  const late = new AbortController();
  try {
    const silent: HealthResult = { ok: false, reason: 'no answer in time' };
    const timeout = sleep(READY_TIMEOUT_MS, silent, { signal: late.signal }).catch(() => silent);
    const result = await Promise.race([ready().catch(() => silent), timeout]);
    return result.ok ? undefined : (result.reason ?? 'not ready');
  } finally {
    late.abort();
  }
}

function contextOf(job: Job<unknown>, active: ActiveJob, progress: ProgressReport): JobContext {
  return {
    signal: active.signal,
    cancelSignal: active.cancelSignal,
    onProgress: progress.push,
    children: async () => {
      const [values, failures] = await Promise.all([job.getChildrenValues(), job.getIgnoredChildrenFailures()]);
      return { results: Object.values(values ?? {}), failures: Object.values(failures ?? {}) };
    },
  };
}

function unrecoverable(reason: string): UnrecoverableError {
  const err = new UnrecoverableError(reason);
  err.stack = 'UnrecoverableError';
  return err;
}
