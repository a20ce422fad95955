import { codeFacts } from '@quicksilver/hg-types';
import { type Problem, parsePayload, TaskOutcome } from '@quicksilver/jobs';
import { updateMirror } from '../database/mirror-store.ts';
import type { Database, Db } from '../database/open-database.ts';
import { json, type TaskRecord } from '../database/records.ts';
import type { MirrorUpdate } from '../database/schema.ts';
import { addEvent, settleTask, taskById } from '../database/task-store.ts';
import type { Logger } from '../logger.ts';
import type { ControlMetrics } from './control-metrics.ts';
import type { TaskEvents } from './task-events.ts';

export interface SettlementParts {
  readonly db: Database;
  readonly events: TaskEvents;
  readonly metrics: ControlMetrics;
  readonly logger: Logger;
}

/** `newer`: a closer of a newer version wrote it; this process has to be replaced before it can be read. */
export type Reading = 'read' | 'newer' | 'malformed';

/**
 * Records how a task ended: task, mirror, receipt and history in one transaction, once. An outcome arrives by several
 * ways (channel, key, return value of `close`, tick) and often more than once; who comes second changes nothing.
 */
export class Settlement {
  readonly #parts: SettlementParts;
  readonly #complained = new Set<string>();
  #after: () => void = () => {};

  constructor(parts: SettlementParts) {
    this.#parts = parts;
  }

  /** Called after each settling: a lane and a slot are free. */
  onSettled(after: () => void): void {
    this.#after = after;
  }

  async settle(value: unknown): Promise<Reading> {
    const parsed = parsePayload(TaskOutcome, value);
    if (parsed.kind !== 'ok') {
      this.#complain(value, parsed.kind === 'newer' ? `version ${parsed.version}` : parsed.message);
      return parsed.kind;
    }
    const outcome = parsed.data;
    const { db } = this.#parts;
    const at = Date.now();
    const task = await db.transaction().execute(async (tx) => {
      const found = await taskById(tx, outcome.taskId);
      if (found?.state !== 'admitted') return undefined;
      await this.#record(tx, { task: found, outcome, at });
      return found;
    });
    if (task) this.#announce(task, outcome.state, at);
    return 'read';
  }

  /** A task that was never admitted ends here, without any worker. The caller's transaction holds the rest. */
  async cancelWanted(tx: Db, task: TaskRecord, at: number): Promise<boolean> {
    const problem = cancelledProblem('admission');
    const facts = { from: 'wanted', outcome: 'cancelled', problem, at } as const;
    if (!(await settleTask(tx, task.id, facts))) return false;
    await addEvent(tx, { taskId: task.id, at, type: 'settled', detail: { outcome: 'cancelled' } });
    await updateMirror(tx, task.mirrorId, { updated_at: at, ...(await cancelledChange(tx, task, problem)) });
    return true;
  }

  /** To be called once the transaction around `cancelWanted` is through. */
  announceCancelled(task: TaskRecord, at: number): void {
    this.#announce(task, 'cancelled', at);
  }

  async #record(tx: Db, settled: { task: TaskRecord; outcome: TaskOutcome; at: number }): Promise<void> {
    const { task, outcome, at } = settled;
    const problem = problemOf(outcome);
    await settleTask(tx, task.id, {
      from: 'admitted',
      outcome: outcome.state,
      generation: outcome.generation,
      problem,
      progress: this.#parts.events.last(task.id),
      at,
    });
    const detail = {
      outcome: outcome.state,
      ...(outcome.generation ? { generation: outcome.generation } : {}),
      ...(problem ? { code: problem.code, stage: problem.stage } : {}),
    };
    await addEvent(tx, { taskId: task.id, at, type: 'settled', detail });
    const change = await mirrorChange(tx, { task, outcome, problem, at });
    await updateMirror(tx, task.mirrorId, { updated_at: at, ...change });
  }

  #announce(task: TaskRecord, outcome: TaskOutcome['state'], at: number): void {
    const { events, metrics, logger } = this.#parts;
    events.settled(task.id);
    metrics.settled(task, outcome, at);
    logger.info({ task: task.id, mirror: task.mirror, action: task.action, outcome }, 'task settled');
    this.#after();
  }

  /** Once per task: the tick finds the same value again and again. */
  #complain(value: unknown, message: string): void {
    const taskId = typeof value === 'object' && value !== null && 'taskId' in value ? String(value.taskId) : 'unknown';
    if (this.#complained.has(taskId) || this.#complained.size > 1000) return;
    this.#complained.add(taskId);
    this.#parts.logger.error({ task: taskId, message }, 'an outcome cannot be read');
  }
}

/** What a settled task changes of its mirror. */
async function mirrorChange(
  tx: Db,
  settled: { task: TaskRecord; outcome: TaskOutcome; problem: Problem | undefined; at: number },
): Promise<MirrorUpdate> {
  const { task, outcome, problem, at } = settled;
  switch (outcome.state) {
    case 'failed':
      // What is served goes on being served; `problem` says that the last try went wrong.
      return { problem_json: json(problem), ...(await catchUp(tx, task, problem)) };
    case 'cancelled':
      return cancelledChange(tx, task, problem);
    case 'ready':
      if (task.action === 'retire') {
        return { retired_at: at, generation: null, path: null, receipt_json: null, problem_json: null };
      }
      return {
        retired_at: null,
        generation: outcome.generation ?? null,
        path: outcome.path ?? null,
        receipt_json: json(outcome.receipt),
        last_success: at,
        problem_json: null,
      };
  }
}

/**
 * The volume has seen later tasks than this database, for example one restored from a backup: the lane goes on behind
 * them, so that asking again works.
 */
async function catchUp(tx: Db, task: TaskRecord, problem: Problem | undefined): Promise<MirrorUpdate> {
  const seen = problem?.code === 'HG_FENCED' ? problem.where.lane : undefined;
  if (typeof seen !== 'number' || !Number.isSafeInteger(seen)) return {};
  const mirror = await tx
    .selectFrom('mirrors')
    .select('next_number')
    .where('id', '=', task.mirrorId)
    .executeTakeFirstOrThrow();
  return { next_number: Math.max(mirror.next_number, seen + 1) };
}

/** A cancelled task leaves a mirror as it was, but one that has nothing to serve has to say why. */
async function cancelledChange(tx: Db, task: TaskRecord, problem: Problem | undefined): Promise<MirrorUpdate> {
  const mirror = await tx
    .selectFrom('mirrors')
    .select(['generation', 'retired_at', 'problem_json'])
    .where('id', '=', task.mirrorId)
    .executeTakeFirstOrThrow();
  const says = mirror.generation !== null || mirror.retired_at !== null || mirror.problem_json !== null;
  return says ? {} : { problem_json: json(problem) };
}

function problemOf(outcome: TaskOutcome): Problem | undefined {
  if (outcome.problem) return outcome.problem;
  switch (outcome.state) {
    case 'ready':
      return undefined;
    case 'cancelled':
      return cancelledProblem('unknown');
    case 'failed': {
      const { class: faultClass, retryable, advice } = codeFacts('HG_INTERNAL');
      const message = 'the task failed without saying why';
      return { code: 'HG_INTERNAL', class: faultClass, stage: 'unknown', message, where: {}, retryable, advice };
    }
  }
}

function cancelledProblem(stage: string): Problem {
  const { class: faultClass, retryable, advice } = codeFacts('HG_CANCELLED');
  return {
    code: 'HG_CANCELLED',
    class: faultClass,
    stage,
    message: 'the task was cancelled',
    where: {},
    retryable,
    advice,
  };
}
