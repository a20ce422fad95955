import { JOB_KINDS, parseQueueName, queueName } from '@quicksilver/jobs';
import type { Database } from '../database/open-database.ts';
import { type QueueSetting, queueSetting, queueSettings, saveQueueSetting } from '../database/queue-settings-store.ts';
import { ApiProblem } from '../domain/problem.ts';
import type { BullFlowQueues } from '../redis/flow-queues.ts';
import { RedisUnavailable } from '../redis/redis-link.ts';
import type { RedisSignals } from '../redis/signals.ts';
import type { ServiceDirectory } from './service-directory.ts';

export interface ConcurrencyParts {
  readonly db: Database;
  readonly flows: Pick<BullFlowQueues, 'meta' | 'setGlobalConcurrency' | 'boundEvents'>;
  readonly signals: Pick<RedisSignals, 'perWorkerConcurrency' | 'setPerWorkerConcurrency'>;
  readonly directory: ServiceDirectory;
  readonly volumes: readonly string[];
}

export interface WorkerSlots {
  readonly instance: string;
  readonly host: string;
  readonly concurrency: number;
  readonly active: number;
}

export interface ConcurrencyReport {
  readonly queue: string;
  readonly wanted: { readonly perWorker: number | null; readonly global: number | null };
  /** As it is now; null while Redis is away. */
  readonly effective: {
    readonly workers: readonly WorkerSlots[];
    readonly global: number | null;
    /** Jobs that can run at once: the sum over workers, cut at the global limit. */
    readonly total: number;
    readonly active: number;
  } | null;
}

/** Slots per worker process and over all workers of a queue. What is wanted is kept in the database. */
export class Concurrency {
  readonly #parts: ConcurrencyParts;

  constructor(parts: ConcurrencyParts) {
    this.#parts = parts;
  }

  async report(queue: string): Promise<ConcurrencyReport> {
    const { kind, volume } = this.#known(queue);
    const { db, directory } = this.#parts;
    const { perWorker, global } = await queueSetting(db, queue);
    const beats = await directory.workers(kind, volume);
    const limit = beats && (await this.#globalLimit(queue));
    const wanted = { perWorker, global };
    if (!beats || limit === undefined) return { queue, wanted, effective: null };
    const workers = beats.map(({ instance, host, concurrency, active }) => ({ instance, host, concurrency, active }));
    const sum = workers.reduce((total, worker) => total + worker.concurrency, 0);
    const active = workers.reduce((total, worker) => total + worker.active, 0);
    return { queue, wanted, effective: { workers, global: limit, total: Math.min(sum, limit ?? sum), active } };
  }

  /**
   * What is left out stays as it is. Durable first; Redis is told now if it answers, else by the next tick that
   * finds it.
   */
  async change(queue: string, change: Partial<ConcurrencyReport['wanted']>): Promise<ConcurrencyReport> {
    this.#known(queue);
    const present = await queueSetting(this.#parts.db, queue);
    const setting: QueueSetting = {
      queue,
      perWorker: change.perWorker === undefined ? present.perWorker : change.perWorker,
      global: change.global === undefined ? present.global : change.global,
    };
    await saveQueueSetting(this.#parts.db, setting, Date.now());
    try {
      await this.#apply(setting);
    } catch (err) {
      if (!(err instanceof RedisUnavailable)) throw err;
    }
    return this.report(queue);
  }

  /** Brings Redis in line: after an outage, after a wipe, after a change that could not be told. */
  async reconcile(): Promise<void> {
    const { db, flows, volumes } = this.#parts;
    for (const volume of volumes) for (const kind of JOB_KINDS) await flows.boundEvents(queueName(kind, volume));
    for (const setting of await queueSettings(db)) await this.#apply(setting);
  }

  async #apply(setting: QueueSetting): Promise<void> {
    const { flows, signals } = this.#parts;
    const { queue, perWorker, global } = setting;
    const present = (await signals.perWorkerConcurrency()).get(queue) ?? null;
    if (present !== perWorker) await signals.setPerWorkerConcurrency(queue, perWorker);
    const { global: limit } = await flows.meta(queue);
    if (limit !== global) await flows.setGlobalConcurrency(queue, global);
  }

  async #globalLimit(queue: string): Promise<number | null | undefined> {
    try {
      return (await this.#parts.flows.meta(queue)).global;
    } catch (err) {
      if (err instanceof RedisUnavailable) return undefined;
      throw err;
    }
  }

  #known(queue: string) {
    const parsed = parseQueueName(queue);
    if (parsed && this.#parts.volumes.includes(parsed.volume)) return parsed;
    throw new ApiProblem('API_UNKNOWN_QUEUE', 'there is no queue of this name');
  }
}
