import type { JobKind, ServiceHeartbeat } from '@quicksilver/jobs';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { RunEnd } from './job-processor.ts';

/** What the data plane counts. One object per registry. */
export class JobMetrics {
  readonly #ends: Counter<'kind' | 'volume' | 'end'>;
  readonly #renewed: Counter<'kind' | 'volume'>;
  readonly #active: Gauge<'kind' | 'volume'>;
  readonly #slots: Gauge<'kind' | 'volume'>;
  readonly #loop: Gauge<'quantile'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#ends = new Counter({
      name: 'quicksilver_job_runs_total',
      help: 'Runs of jobs by how they ended',
      labelNames: ['kind', 'volume', 'end'],
      registers,
    });
    this.#renewed = new Counter({
      name: 'quicksilver_workers_renewed_total',
      help: 'Workers made anew because they took no jobs',
      labelNames: ['kind', 'volume'],
      registers,
    });
    this.#active = new Gauge({
      name: 'quicksilver_jobs_active',
      help: 'Jobs under way in this process',
      labelNames: ['kind', 'volume'],
      registers,
    });
    this.#slots = new Gauge({
      name: 'quicksilver_job_slots',
      help: 'Jobs that this process may run at once',
      labelNames: ['kind', 'volume'],
      registers,
    });
    this.#loop = new Gauge({
      name: 'quicksilver_event_loop_delay_seconds',
      help: 'Delay of the event loop that renews job locks, over the last heartbeat',
      labelNames: ['quantile'],
      registers,
    });
  }

  ended({ kind, volume, end }: { kind: JobKind; volume: string; end: RunEnd }): void {
    this.#ends.inc({ kind, volume, end });
  }

  renewed(kind: JobKind, volume: string): void {
    this.#renewed.inc({ kind, volume });
  }

  beat({ kind, volume, active, concurrency, loopDelay }: ServiceHeartbeat): void {
    this.#active.set({ kind, volume }, active);
    this.#slots.set({ kind, volume }, concurrency);
    this.#loop.set({ quantile: '0.99' }, loopDelay.p99 / 1000);
    this.#loop.set({ quantile: '1' }, loopDelay.max / 1000);
  }
}
