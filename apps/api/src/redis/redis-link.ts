import { createRedis } from '@quicksilver/app-kit';
import type { Redis } from 'ioredis';
import type { Logger } from '../logger.ts';

/** Redis does not answer. Never the end of a request: what is wanted is in the database. */
export class RedisUnavailable extends Error {
  override readonly name = 'RedisUnavailable';
}

/** Longer than a command's own time limit, so that this is reached only where there is none. */
const DEADLINE_MS = 5000;
/** For what a request merely shows: a Redis that hangs must not make every page hang. */
export const GLANCE_MS = 1000;

/**
 * The API's connections. `commands` fails within seconds; `subscriber` waits for Redis as long as it takes and
 * subscribes again by itself.
 */
export class RedisLink implements AsyncDisposable {
  readonly url: string;
  readonly commands: Redis;
  readonly subscriber: Redis;
  readonly #logger: Logger;

  constructor(url: string, logger: Logger) {
    this.url = url;
    this.#logger = logger;
    this.commands = createRedis(url, 'command', (err) => this.#report(err));
    this.subscriber = createRedis(url, 'worker', (err) => this.#report(err));
  }

  get up(): boolean {
    return this.commands.status === 'ready';
  }

  /** Runs commands under a deadline; every failure, also "not connected", is a RedisUnavailable. */
  async use<T>(work: (redis: Redis) => Promise<T>, deadline: number = DEADLINE_MS): Promise<T> {
    if (!this.up) throw new RedisUnavailable('Redis does not answer');
    try {
      return await withDeadline(work(this.commands), deadline);
    } catch (err) {
      throw new RedisUnavailable('Redis does not answer', { cause: err });
    }
  }

  #report(err: Error): void {
    // ioredis says this at every attempt to connect; readiness tells people.
    this.#logger.debug({ err }, 'Redis connection');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.subscriber.disconnect();
    this.commands.disconnect();
  }
}

export async function withDeadline<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  // Whoever loses the race may still reject later: that has been answered already.
  promise.catch(() => {});
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
