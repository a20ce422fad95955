import { HgError } from '@quicksilver/hg-types';
import type { Logger } from 'pino';
import { EngineChild, type RunOptions } from './engine-child.ts';
import type { EngineRequest } from './protocol.ts';

export interface EngineSlotsOptions {
  /** The app's engine entry: a module that calls `serveEngine`. */
  readonly entry: URL;
  /** Engines at work at once; can be changed by `resize`. */
  readonly size: number;
  readonly logger: Logger;
  /** Environment of the engines; credentials have no place in it. */
  readonly env: NodeJS.ProcessEnv;
  /** An engine is replaced after so many requests... */
  readonly maxJobsPerChild?: number;
  /** ...or when it holds so much after an answer: what leaks must not grow until the host fails. */
  readonly maxRssMb?: number;
  readonly killAfterMs?: number;
  readonly maxSilenceMs?: number;
}

interface Waiter {
  readonly resolve: (child: EngineChild) => void;
  readonly reject: (err: Error) => void;
}

/**
 * Engine processes, one per slot, started when first needed and kept warm.
 *
 *   run -> take (idle child | new child | wait) -> child.run -> give back (next waiter | idle | replaced)
 *
 * A crash, a SIGBUS or the end of memory takes one request with it and never the service, and nothing an engine
 * computes can delay the loop that renews job locks.
 */
export class EngineSlots implements AsyncDisposable {
  readonly #options: Required<EngineSlotsOptions>;
  readonly #idle: EngineChild[] = [];
  readonly #children = new Set<EngineChild>();
  readonly #waiters: Waiter[] = [];
  readonly #leaving = new Set<Promise<void>>();
  #size: number;
  #closed = false;

  constructor(options: EngineSlotsOptions) {
    this.#options = { maxJobsPerChild: 200, maxRssMb: 1024, killAfterMs: 1000, maxSilenceMs: 30_000, ...options };
    this.#size = options.size;
  }

  get size(): number {
    return this.#size;
  }

  /** Engines that work on a request. */
  get active(): number {
    return this.#children.size - this.#idle.length;
  }

  /** Process ids of all engines, for logs and tests. */
  get pids(): number[] {
    return [...this.#children].flatMap((child) => child.pid ?? []);
  }

  /** Starts one engine ahead of the first request. */
  warm(): void {
    if (!this.#closed && this.#children.size < this.#size) this.#idle.push(this.#start());
  }

  /**
   * Runs one request in an engine. An abort is passed on; an engine that has not answered it in time is killed.
   * @throws HgError the engine's own fault; HG_CANCELLED when aborted; HG_WORKER_LOST when the engine was lost
   */
  async run(request: EngineRequest, options: RunOptions): Promise<unknown> {
    for (;;) {
      const child = await this.#take(options.signal);
      const warm = child.jobs > 0;
      try {
        return await child.run(request, options);
      } catch (err) {
        // A warm engine that ended while idle, unnoticed until now: not this request's fault.
        if (!warm || !child.lostUntouched || options.signal.aborted) throw err;
      } finally {
        this.#giveBack(child);
      }
    }
  }

  /** Live: more slots serve those who wait at once; fewer let running requests end. */
  resize(size: number): void {
    this.#size = size;
    while (this.#waiters.length > 0 && this.#children.size < size) this.#waiters.shift()?.resolve(this.#start());
    while (this.#children.size > size) {
      const idle = this.#idle.pop();
      if (!idle) break;
      this.#retire(idle);
    }
  }

  /** Ends every engine. Whoever wants running requests to end well aborts them and waits for them first. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const waiter of this.#waiters.splice(0)) waiter.reject(cancelled());
    this.#idle.length = 0;
    for (const child of this.#children) this.#retire(child);
    await Promise.all(this.#leaving);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #take(signal: AbortSignal): Promise<EngineChild> | EngineChild {
    if (this.#closed || signal.aborted) throw cancelled();
    const idle = this.#idle.pop();
    if (idle) return idle;
    if (this.#children.size < this.#size) return this.#start();
    return new Promise<EngineChild>((resolve, reject) => {
      const onAbort = () => {
        const at = this.#waiters.indexOf(waiter);
        if (at >= 0) this.#waiters.splice(at, 1);
        reject(cancelled());
      };
      const waiter: Waiter = {
        resolve: (child) => {
          signal.removeEventListener('abort', onAbort);
          resolve(child);
        },
        reject,
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiters.push(waiter);
    });
  }

  #giveBack(child: EngineChild): void {
    const { maxJobsPerChild, maxRssMb } = this.#options;
    const spent = child.jobs >= maxJobsPerChild || child.rss > maxRssMb * 2 ** 20;
    if (this.#closed || child.gone || spent || this.#children.size > this.#size) {
      if (spent && !child.gone) this.#options.logger.info({ engine: child.pid, jobs: child.jobs }, 'engine replaced');
      this.#retire(child);
      if (this.#waiters.length > 0 && this.#children.size < this.#size) this.#waiters.shift()?.resolve(this.#start());
      return;
    }
    const waiter = this.#waiters.shift();
    if (waiter) waiter.resolve(child);
    else this.#idle.push(child);
  }

  #start(): EngineChild {
    const { entry, env, logger, killAfterMs, maxSilenceMs } = this.#options;
    const child = new EngineChild({ entry, env, logger, killAfterMs, maxSilenceMs });
    this.#children.add(child);
    // One that dies while idle leaves the pool by itself; one that dies at work is given back by `run`.
    void child.exited.then(() => {
      const at = this.#idle.indexOf(child);
      if (at < 0) return;
      this.#idle.splice(at, 1);
      this.#children.delete(child);
      logger.warn({ engine: child.pid }, 'idle engine ended');
    });
    return child;
  }

  #retire(child: EngineChild): void {
    this.#children.delete(child);
    const leaving = child.stop().finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
  }
}

function cancelled(): HgError {
  return new HgError('HG_CANCELLED', 'the work was cancelled');
}
