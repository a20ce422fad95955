import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { mirrorsByState } from '../database/mirror-store.ts';
import type { Database } from '../database/open-database.ts';
import type { TaskRecord } from '../database/records.ts';
import { tasksByState } from '../database/task-store.ts';
import { MIRROR_STATES, TASK_OUTCOMES, type TaskOutcomeState } from '../domain/lifecycle.ts';
import type { QueueDepth } from '../redis/flow-queues.ts';

const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200];

/** What the control plane counts. Gauges are read when they are asked for. */
export class ControlMetrics {
  readonly #admitted: Counter<'action'>;
  readonly #settled: Counter<'action' | 'outcome'>;
  readonly #renewed: Counter;
  readonly #waiting: Histogram<'action'>;
  readonly #running: Histogram<'action' | 'outcome'>;
  readonly #registers: Registry[];

  constructor(registry: Registry) {
    const registers = [registry];
    this.#registers = registers;
    const counter = { labelNames: ['action'] as const, registers };
    this.#admitted = new Counter({ name: 'quicksilver_tasks_admitted_total', help: 'Tasks admitted', ...counter });
    this.#settled = new Counter({
      name: 'quicksilver_tasks_settled_total',
      help: 'Tasks settled, by outcome',
      labelNames: ['action', 'outcome'],
      registers,
    });
    this.#renewed = new Counter({
      name: 'quicksilver_flows_renewed_total',
      help: 'Flows added again because the one before was lost',
      registers,
    });
    this.#waiting = new Histogram({
      name: 'quicksilver_task_waiting_seconds',
      help: 'From request to admission',
      buckets: SECONDS,
      ...counter,
    });
    this.#running = new Histogram({
      name: 'quicksilver_task_running_seconds',
      help: 'From admission to settling',
      labelNames: ['action', 'outcome'],
      buckets: SECONDS,
      registers,
    });
  }

  admitted(task: TaskRecord, at: number): void {
    this.#admitted.inc({ action: task.action });
    this.#waiting.observe({ action: task.action }, (at - task.createdAt) / 1000);
  }

  settled(task: TaskRecord, outcome: TaskOutcomeState, at: number): void {
    const labels = { action: task.action, outcome };
    this.#settled.inc(labels);
    if (task.admittedAt !== null) this.#running.observe(labels, (at - task.admittedAt) / 1000);
  }

  renewed(): void {
    this.#renewed.inc();
  }

  /** `depths` may fail while Redis is away: the gauge is then left out rather than shown as zero. */
  watch(sources: {
    db: Database;
    depths: () => Promise<QueueDepth[]>;
    clients: () => number;
    roundAge: () => number;
  }): void {
    const registers = this.#registers;
    new Gauge({
      name: 'quicksilver_tasks',
      help: 'Tasks by state; settled ones by outcome',
      labelNames: ['state'],
      registers,
      async collect() {
        const counts = await tasksByState(sources.db);
        for (const state of ['wanted', 'admitted', ...TASK_OUTCOMES]) this.set({ state }, counts.get(state) ?? 0);
      },
    });
    new Gauge({
      name: 'quicksilver_mirrors',
      help: 'Mirrors by state',
      labelNames: ['state'],
      registers,
      async collect() {
        const counts = await mirrorsByState(sources.db);
        for (const state of MIRROR_STATES) this.set({ state }, counts.get(state) ?? 0);
      },
    });
    new Gauge({
      name: 'quicksilver_queue_jobs',
      help: 'Jobs in the queues by state; absent while Redis is away',
      labelNames: ['queue', 'state'],
      registers,
      async collect() {
        this.reset();
        const depths = await sources.depths().catch(() => []);
        for (const { queue, state, count } of depths) this.set({ queue, state }, count);
      },
    });
    new Gauge({
      name: 'quicksilver_event_clients',
      help: 'Clients that listen to task events',
      registers,
      collect() {
        this.set(sources.clients());
      },
    });
    new Gauge({
      name: 'quicksilver_admission_age_seconds',
      help: 'Time since admission last looked for work',
      registers,
      collect() {
        this.set(sources.roundAge() / 1000);
      },
    });
  }
}
