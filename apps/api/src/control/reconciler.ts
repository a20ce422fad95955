import { decodeProblem } from '@quicksilver/app-kit';
import { flowId, taskFlow } from '@quicksilver/jobs';
import type { Database } from '../database/open-database.ts';
import type { TaskRecord } from '../database/records.ts';
import { addEvent, admittedTasks, renewFlow } from '../database/task-store.ts';
import type { Logger } from '../logger.ts';
import type { FlowQueues } from '../redis/flow-queues.ts';
import type { Signals } from '../redis/signals.ts';
import type { ControlMetrics } from './control-metrics.ts';
import type { Settlement } from './settlement.ts';
import { taskRequest } from './task-request.ts';

export interface ReconcilerParts {
  readonly db: Database;
  readonly flows: FlowQueues;
  readonly signals: Signals;
  readonly settlement: Settlement;
  readonly metrics: ControlMetrics;
  readonly logger: Logger;
  /** How long a `close` job may be missing or failed before its task gets a new flow (milliseconds). */
  readonly grace: number;
}

/** A fault that lasts (a volume that became read-only) is met less and less often: up to 30 times the grace. */
const LONGEST_PAUSE = 30;

/**
 * How long to wait before the k-th flow of a task is replaced by the next one (milliseconds). One that is missing was
 * lost by accident; one whose `close` failed for good may fail again.
 */
export function renewalPause(why: 'missing' | 'failed', flow: number, grace: number): number {
  if (why === 'missing') return grace;
  return grace * Math.min(LONGEST_PAUSE, 2 ** Math.min(flow - 1, 16));
}

/**
 * Compares what the database says is under way with what Redis knows, on every tick. It covers restarts of this
 * process, outcomes that nobody heard, flows that were never added, and a Redis that came back empty.
 */
export class Reconciler {
  readonly #parts: ReconcilerParts;
  /** Flow id -> since when its `close` job was seen missing or failed. */
  readonly #lostSince = new Map<string, number>();

  constructor(parts: ReconcilerParts) {
    this.#parts = parts;
  }

  async check(): Promise<void> {
    const { db, signals, settlement } = this.#parts;
    const before = await admittedTasks(db);
    if (before.length === 0) return this.#lostSince.clear();
    for (const outcome of await signals.outcomes(before.map((task) => task.id))) await settlement.settle(outcome);
    const tasks = await admittedTasks(db);
    this.#forgetAllBut(tasks);
    for (const task of tasks) await this.#checkTask(task);
  }

  async #checkTask(task: TaskRecord): Promise<void> {
    const { flows, settlement } = this.#parts;
    const id = flowId(task.id, task.flow);
    const close = await flows.closeState(task.volume, id);
    switch (close.kind) {
      case 'completed':
        if ((await settlement.settle(close.value)) !== 'malformed') return;
        await this.#lost(task, 'failed', 'the result of the close job cannot be read');
        break;
      case 'failed':
        await this.#lost(task, 'failed', close.reason);
        break;
      case 'missing':
        await this.#lost(task, 'missing');
        break;
      case 'open':
        this.#lostSince.delete(id);
        break;
    }
    if (task.cancelRequested) await this.#cancelAgain(task);
  }

  /** Signals are lost with a closer that was down or a Redis that was wiped, so they are given until they work. */
  async #cancelAgain(task: TaskRecord): Promise<void> {
    const { task: ref, mirror, volume } = taskRequest(task, task.flow);
    await this.#parts.signals.cancel({ v: 1, task: ref, mirror, volume });
  }

  async #lost(task: TaskRecord, why: 'missing' | 'failed', reason?: string): Promise<void> {
    const { db, flows, metrics, logger, grace } = this.#parts;
    const id = flowId(task.id, task.flow);
    const now = Date.now();
    const since = this.#lostSince.get(id) ?? now;
    this.#lostSince.set(id, since);
    if (now - since < renewalPause(why, task.flow, grace)) return;
    const fault = reason === undefined ? undefined : decodeProblem(reason, 'close');
    const detail = { flow: task.flow, why, ...(fault ? { code: fault.code, message: fault.message } : {}) };
    const renewed = await db.transaction().execute(async (tx) => {
      if (!(await renewFlow(tx, task.id, task.flow))) return false;
      await addEvent(tx, { taskId: task.id, at: now, type: 'flow-lost', detail });
      return true;
    });
    this.#lostSince.delete(id);
    if (!renewed) return;
    metrics.renewed();
    logger.warn({ task: task.id, mirror: task.mirror, ...detail }, 'the flow was lost: adding another');
    await flows.add(taskFlow(taskRequest(task, task.flow + 1)));
  }

  #forgetAllBut(tasks: readonly TaskRecord[]): void {
    const current = new Set(tasks.map((task) => flowId(task.id, task.flow)));
    for (const id of this.#lostSince.keys()) if (!current.has(id)) this.#lostSince.delete(id);
  }
}
