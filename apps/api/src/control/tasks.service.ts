import { flowId, type Progress } from '@quicksilver/jobs';
import type { Database } from '../database/open-database.ts';
import type { TaskEventRecord, TaskRecord } from '../database/records.ts';
import { addEvent, listTasks, requestCancel, type TaskPage, taskById, taskHistory } from '../database/task-store.ts';
import { ApiProblem } from '../domain/problem.ts';
import type { FlowQueues } from '../redis/flow-queues.ts';
import { RedisUnavailable } from '../redis/redis-link.ts';
import type { Signals } from '../redis/signals.ts';
import type { ServiceDirectory } from './service-directory.ts';
import type { Settlement } from './settlement.ts';
import type { TaskEvents } from './task-events.ts';
import { taskRequest } from './task-request.ts';

export interface TasksParts {
  readonly db: Database;
  readonly flows: Pick<FlowQueues, 'progress'>;
  readonly signals: Pick<Signals, 'cancel'>;
  readonly directory: ServiceDirectory;
  readonly settlement: Settlement;
  readonly events: TaskEvents;
}

export interface TaskReport {
  readonly task: TaskRecord;
  readonly progress: Progress | null;
  readonly history: readonly TaskEventRecord[];
  readonly services: { readonly writer: number; readonly closer: number } | null;
}

/** A task that was lost again and again has a long history: its newest part tells enough. */
const HISTORY_LIMIT = 100;

export class TasksService {
  readonly #parts: TasksParts;

  constructor(parts: TasksParts) {
    this.#parts = parts;
  }

  async list(page: TaskPage): Promise<TaskRecord[]> {
    return listTasks(this.#parts.db, page);
  }

  async task(id: string): Promise<TaskRecord> {
    const task = await taskById(this.#parts.db, id);
    if (task) return task;
    throw new ApiProblem('API_UNKNOWN_TASK', 'there is no task of this id');
  }

  async report(id: string): Promise<TaskReport> {
    const task = await this.task(id);
    const history = await taskHistory(this.#parts.db, id, HISTORY_LIMIT);
    const [progress, services] = await Promise.all([this.progress(task), this.#services(task.volume)]);
    return { task, history, progress, services };
  }

  /** The last that was heard; after a restart of this process, what the queue still knows. */
  async progress(task: TaskRecord): Promise<Progress | null> {
    if (task.state !== 'admitted') return task.progress;
    const { events, flows } = this.#parts;
    const heard = events.last(task.id);
    if (heard) return heard;
    try {
      events.progress(await flows.progress(task.volume, flowId(task.id, task.flow)));
    } catch (err) {
      if (!(err instanceof RedisUnavailable)) throw err;
    }
    return events.last(task.id) ?? null;
  }

  /**
   * Idempotent. Wanted: settled here and now. Admitted: shows `cancelling` from now on, and is settled by a closer of
   * its volume; the signal is repeated by the reconciler until then.
   */
  async cancel(id: string): Promise<TaskRecord> {
    const { db, settlement, events, signals } = this.#parts;
    const at = Date.now();
    const done = await db.transaction().execute(async (tx) => {
      const task = await taskById(tx, id);
      if (task?.state === 'wanted' && (await settlement.cancelWanted(tx, task, at))) return { task, how: 'settled' };
      if (task?.state !== 'admitted') return undefined;
      if (await requestCancel(tx, id)) await addEvent(tx, { taskId: id, at, type: 'cancel-requested' });
      return { task, how: 'requested' };
    });
    if (done?.how === 'settled') settlement.announceCancelled(done.task, at);
    if (done?.how === 'requested') {
      events.state(id);
      const { task: ref, mirror, volume } = taskRequest(done.task, done.task.flow);
      // Not waited for: the wish is recorded, and the reconciler says it again until the task is settled.
      signals.cancel({ v: 1, task: ref, mirror, volume }).catch(() => {});
    }
    return this.task(id);
  }

  async #services(volume: string): Promise<TaskReport['services']> {
    const { directory } = this.#parts;
    const [writers, closers] = await Promise.all([
      directory.workers('clone', volume),
      directory.workers('close', volume),
    ]);
    return writers && closers ? { writer: writers.length, closer: closers.length } : null;
  }
}
