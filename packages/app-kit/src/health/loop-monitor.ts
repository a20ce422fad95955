import { monitorEventLoopDelay } from 'node:perf_hooks';

export interface LoopDelay {
  /** Milliseconds that the event loop was late, since the last read. */
  readonly p99: number;
  readonly max: number;
}

const RESOLUTION_MS = 10;

/** How late the event loop runs: the loop that renews job locks has to stay free. */
export class LoopMonitor implements Disposable {
  readonly #histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  constructor() {
    this.#histogram.enable();
  }

  /** Since the last read; reading begins a new period. */
  read(): LoopDelay {
    const delay = { p99: late(this.#histogram.percentile(99)), max: late(this.#histogram.max) };
    this.#histogram.reset();
    return delay;
  }

  [Symbol.dispose](): void {
    this.#histogram.disable();
  }
}

/** The histogram holds nanoseconds between two ticks of its own timer: what is above the timer's interval is delay. */
function late(nanoseconds: number): number {
  const ms = nanoseconds / 1e6 - RESOLUTION_MS;
  return Number.isFinite(ms) && ms > 0 ? Math.round(ms * 100) / 100 : 0;
}
