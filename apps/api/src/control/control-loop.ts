import type { HealthResult } from '@quicksilver/app-kit';
import type { Logger } from '../logger.ts';

export interface ControlLoopParts {
  /** Looks for work to admit; run at every kick and every tick. */
  readonly admit: () => Promise<void>;
  /** Run at every tick, each even if the one before failed. */
  readonly duties: Readonly<Record<string, () => Promise<void>>>;
  /** Milliseconds between two ticks. */
  readonly interval: number;
  readonly logger: Logger;
}

/** Commands to a Redis that hangs fail after seconds, several of them in one round. */
const SLOWEST_ROUND_MS = 30_000;

/** One loop for everything that must not overlap with itself: admission at kicks, admission and duties at ticks. */
export class ControlLoop implements AsyncDisposable {
  readonly #parts: ControlLoopParts;
  readonly #failing = new Set<string>();
  #running: Promise<void> | undefined;
  #stopped = false;
  #kicked = false;
  #wake: (() => void) | undefined;
  #lastRound = Date.now();

  constructor(parts: ControlLoopParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Something may be admissible now. Never waits. */
  kick(): void {
    this.#kicked = true;
    this.#wake?.();
  }

  /** Milliseconds since the last round ended. */
  get roundAge(): number {
    return Date.now() - this.#lastRound;
  }

  check(): HealthResult {
    if (this.#stopped) return { ok: false, reason: 'admission has stopped' };
    if (this.roundAge < SLOWEST_ROUND_MS + 3 * this.#parts.interval) return { ok: true };
    return { ok: false, reason: `admission has not looked for work for ${Math.round(this.roundAge / 1000)} s` };
  }

  /** A loop that goes round may yet get nothing done. */
  checkDuties(): HealthResult {
    if (this.#failing.size === 0) return { ok: true };
    return {
      ok: false,
      reason: `failing, and tried again at every tick: ${[...this.#failing].join(', ')}; see the log`,
    };
  }

  async #run(): Promise<void> {
    const { admit, duties, interval } = this.#parts;
    let nextTick = Date.now();
    while (!this.#stopped) {
      this.#kicked = false;
      await this.#attempt('admission', admit);
      if (Date.now() >= nextTick) {
        for (const [name, duty] of Object.entries(duties)) if (!this.#stopped) await this.#attempt(name, duty);
        nextTick = Date.now() + interval;
      }
      this.#lastRound = Date.now();
      await this.#sleep(nextTick - Date.now());
    }
  }

  async #attempt(name: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      if (this.#failing.delete(name)) this.#parts.logger.info({ duty: name }, 'works again');
    } catch (err) {
      // Once per outage: during a long one this comes every tick.
      if (!this.#failing.has(name)) this.#parts.logger.warn({ duty: name, err }, 'failed; it is tried again');
      this.#failing.add(name);
    }
  }

  async #sleep(ms: number): Promise<void> {
    if (this.#kicked || this.#stopped || ms <= 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    this.#wake?.();
    await this.#running;
  }
}
