import { taskFlow } from '@quicksilver/jobs';
import { updateMirror } from '../database/mirror-store.ts';
import type { Database } from '../database/open-database.ts';
import type { TaskRecord } from '../database/records.ts';
import { addEvent, admissible, admitTask, countAdmitted } from '../database/task-store.ts';
import type { Logger } from '../logger.ts';
import type { FlowQueues } from '../redis/flow-queues.ts';
import { RedisUnavailable } from '../redis/redis-link.ts';
import type { ControlMetrics } from './control-metrics.ts';
import type { TaskEvents } from './task-events.ts';
import { taskRequest } from './task-request.ts';

export interface AdmissionParts {
  readonly db: Database;
  readonly flows: Pick<FlowQueues, 'add'>;
  readonly events: TaskEvents;
  readonly metrics: ControlMetrics;
  readonly logger: Logger;
  readonly volumes: readonly string[];
  /** Tasks that may be under way at once on a volume. */
  readonly slots: (volume: string) => number;
  /** False while Redis is away or unfit: nothing is admitted then. */
  readonly open: () => Promise<boolean>;
}

/**
 * Turns wanted tasks into flows: first come, first served among the tasks that are first in their mirror's lane, as
 * long as the volume has slots. The database says "admitted", with the flow's id, before the flow is added; a flow
 * that is lost in between is found by the reconciler and replaced under a new id.
 */
export class Admission {
  readonly #parts: AdmissionParts;

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
  }

  /** Admits all that can be. Passes must not overlap: the control loop sees to that. */
  async pass(): Promise<void> {
    const { db, volumes, slots, open, logger } = this.#parts;
    let asked = false;
    for (const volume of volumes) {
      const free = slots(volume) - (await countAdmitted(db, volume));
      const tasks = free > 0 ? await admissible(db, volume, free) : [];
      if (tasks.length === 0) continue;
      if (!asked && !(await open())) return;
      asked = true;
      for (const task of tasks) {
        try {
          await this.#admit(task);
        } catch (err) {
          if (!(err instanceof RedisUnavailable)) throw err;
          logger.warn({ task: task.id }, 'the flow could not be added: Redis does not answer');
          return;
        }
      }
    }
  }

  async #admit(task: TaskRecord): Promise<void> {
    const { db, flows, events, metrics, logger } = this.#parts;
    const at = Date.now();
    const admitted = await db.transaction().execute(async (tx) => {
      if (!(await admitTask(tx, task.id, at))) return false;
      await addEvent(tx, { taskId: task.id, at, type: 'admitted', detail: { flow: 1 } });
      await updateMirror(tx, task.mirrorId, { updated_at: at });
      return true;
    });
    if (!admitted) return;
    events.state(task.id);
    metrics.admitted(task, at);
    logger.info({ task: task.id, mirror: task.mirror, action: task.action, number: task.number }, 'task admitted');
    await flows.add(taskFlow(taskRequest(task, 1)));
  }
}
