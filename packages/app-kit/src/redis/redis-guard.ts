import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import type { HealthResult } from '../health/health-registry.ts';

/** What was seen of a server's settings. */
export interface RedisFacts {
  /** Undefined: the server does not tell. */
  readonly policy: string | undefined;
  /** False: a restart of Redis loses what is queued. Undefined: the server does not tell. */
  readonly persistent: boolean | undefined;
  /** Its memory is used up: under `noeviction` it answers, and refuses whatever is to be kept. */
  readonly full: boolean;
}

export interface RedisGuardOptions {
  readonly redis: Redis;
  readonly logger: Logger;
  /** QUICKSILVER_REDIS_POLICY_OVERRIDE: the operator vouches for a server that hides its policy. */
  readonly override: boolean;
}

const NO_ANSWER: HealthResult = { ok: false, reason: 'Redis does not answer' };
/** Shorter than what a health check may take, so that the reason gets told. */
const PING_TIMEOUT_MS = 1500;
const RECHECK_MS = 30_000;
/** Whoever puts a setting right wants to see it. */
const RECHECK_BAD_MS = 1000;
const REPEAT_WARNING_MS = 600_000;

/**
 * Looks at the settings that jobs depend on. With an evicting `maxmemory-policy` a server drops locks and jobs when
 * memory runs short, and nothing in a queue can tell: such a server is not used, with the reason in `/readyz`.
 * A server that hides its policy is used under a repeated loud warning.
 */
export class RedisGuard {
  readonly #options: RedisGuardOptions;
  #facts: RedisFacts | undefined;
  #readAt = 0;
  #warnedAt = new Map<string, number>();

  constructor(options: RedisGuardOptions) {
    this.#options = options;
  }

  /** Redis answers at all. */
  async ping(): Promise<HealthResult> {
    const late = new AbortController();
    try {
      const answer = await Promise.race([
        this.#options.redis.ping(),
        sleep(PING_TIMEOUT_MS, undefined, { signal: late.signal }),
      ]);
      return answer === undefined ? NO_ANSWER : { ok: true };
    } catch {
      return NO_ANSWER;
    } finally {
      late.abort();
    }
  }

  /** Readiness: the policy is right, or cannot be known, and there is room for jobs. */
  async check(): Promise<HealthResult> {
    try {
      const fit = this.#facts?.policy === 'noeviction' && !this.#facts.full;
      const wait = fit ? RECHECK_MS : RECHECK_BAD_MS;
      if (!this.#facts || Date.now() - this.#readAt > wait) {
        this.#facts = await readRedisFacts(this.#options.redis);
        this.#readAt = Date.now();
      }
    } catch {
      return NO_ANSWER;
    }
    const { policy, persistent, full } = this.#facts;
    if (persistent === false) {
      this.#warn('Redis keeps nothing on disk: when it restarts, tasks under way begin again (appendonly yes)');
    }
    if (policy !== undefined && policy !== 'noeviction') {
      return {
        ok: false,
        reason: `Redis has maxmemory-policy "${policy}" and may drop jobs and locks: set it to "noeviction"`,
      };
    }
    if (full) return { ok: false, reason: 'Redis has used up its memory and refuses jobs: raise its "maxmemory"' };
    if (policy === undefined && !this.#options.override) {
      this.#warn(
        'Redis hides its maxmemory-policy. Make sure that it is "noeviction", or jobs will vanish under memory ' +
          'pressure; then set QUICKSILVER_REDIS_POLICY_OVERRIDE=1',
      );
    }
    return { ok: true };
  }

  #warn(text: string): void {
    const last = this.#warnedAt.get(text);
    if (last !== undefined && Date.now() - last < REPEAT_WARNING_MS) return;
    this.#warnedAt.set(text, Date.now());
    this.#options.logger.warn(text);
  }
}

/** Managed servers forbid CONFIG; INFO often tells the same. Rejects only when the server does not answer. */
export async function readRedisFacts(redis: Redis): Promise<RedisFacts> {
  await redis.ping();
  const [policy, save, memory, persistence] = await Promise.all([
    setting(redis, 'maxmemory-policy'),
    setting(redis, 'save'),
    infoOf(redis, 'memory'),
    infoOf(redis, 'persistence'),
  ]);
  const aof = persistence.get('aof_enabled');
  const limit = Number(memory.get('maxmemory') ?? 0);
  const known = aof !== undefined && save !== undefined;
  return {
    policy: policy ?? memory.get('maxmemory_policy'),
    persistent: aof === '1' ? true : known ? save !== '' : undefined,
    full: limit > 0 && Number(memory.get('used_memory')) >= limit,
  };
}

async function setting(redis: Redis, name: string): Promise<string | undefined> {
  try {
    const answer: unknown = await redis.config('GET', name);
    return Array.isArray(answer) && typeof answer[1] === 'string' ? answer[1] : undefined;
  } catch {
    return undefined;
  }
}

async function infoOf(redis: Redis, section: string): Promise<Map<string, string>> {
  try {
    const text = await redis.info(section);
    return new Map(
      text.split(/\r?\n/).flatMap((line) => {
        const at = line.indexOf(':');
        return at > 0 ? [[line.slice(0, at), line.slice(at + 1)] as const] : [];
      }),
    );
  } catch {
    return new Map();
  }
}
