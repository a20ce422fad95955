import {
  type CancelSignal,
  type JobKind,
  parsePayload,
  REDIS_KEYS,
  ServiceHeartbeat,
  SIGNAL_TTL_SECONDS,
} from '@quicksilver/jobs';
import type { Redis } from 'ioredis';
import { GLANCE_MS, type RedisLink } from './redis-link.ts';

const SCAN_COUNT = 1000;

/** Flags, channels and heartbeats beside the queues. Everything throws RedisUnavailable while Redis is away. */
export interface Signals {
  cancel(signal: CancelSignal): Promise<void>;
  /** Outcomes that were left for these tasks; not yet checked. */
  outcomes(taskIds: readonly string[]): Promise<unknown[]>;
}

export class RedisSignals implements Signals {
  readonly #link: RedisLink;

  constructor(link: RedisLink) {
    this.#link = link;
  }

  async cancel(signal: CancelSignal): Promise<void> {
    const payload = JSON.stringify(signal);
    await this.#link.use(async (redis) => {
      await redis.set(REDIS_KEYS.cancel(signal.task.id), payload, 'EX', SIGNAL_TTL_SECONDS);
      await redis.publish(REDIS_KEYS.cancelChannel, payload);
    });
  }

  async outcomes(taskIds: readonly string[]): Promise<unknown[]> {
    if (taskIds.length === 0) return [];
    const texts = await this.#link.use((redis) => redis.mget(taskIds.map(REDIS_KEYS.outcome)));
    return texts.flatMap((text) => (text === null ? [] : [jsonOrUndefined(text)]));
  }

  /** Calls `heard` with each outcome that is published, now and after every outage. */
  async listen(heard: (outcome: unknown) => void): Promise<void> {
    this.#link.subscriber.on('message', (channel: string, text: string) => {
      if (channel === REDIS_KEYS.outcomeChannel) heard(jsonOrUndefined(text));
    });
    await this.#link.subscriber.subscribe(REDIS_KEYS.outcomeChannel);
  }

  async heartbeats(kind: JobKind, volume: string): Promise<ServiceHeartbeat[]> {
    return this.#link.use(async (redis) => {
      const keys = await scan(redis, REDIS_KEYS.heartbeatPattern(kind, volume));
      const texts = keys.length > 0 ? await redis.mget(keys) : [];
      return texts.flatMap((text) => {
        const beat = parsePayload(ServiceHeartbeat, text === null ? undefined : jsonOrUndefined(text));
        return beat.kind === 'ok' ? [beat.data] : [];
      });
    }, GLANCE_MS);
  }

  async perWorkerConcurrency(): Promise<Map<string, number>> {
    const hash = await this.#link.use((redis) => redis.hgetall(REDIS_KEYS.concurrency));
    return new Map(Object.entries(hash).map(([queue, value]) => [queue, Number(value)]));
  }

  async setPerWorkerConcurrency(queue: string, value: number | null): Promise<void> {
    await this.#link.use(async (redis) => {
      if (value === null) await redis.hdel(REDIS_KEYS.concurrency, queue);
      else await redis.hset(REDIS_KEYS.concurrency, queue, value);
      await redis.publish(REDIS_KEYS.concurrencyChannel, queue);
    });
  }
}

/** SCAN rather than KEYS: it never holds up the server. */
async function scan(redis: Redis, pattern: string): Promise<string[]> {
  const found = new Set<string>();
  let cursor = '0';
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', pattern, 'COUNT', SCAN_COUNT);
    for (const key of keys) found.add(key);
    cursor = next;
  } while (cursor !== '0');
  return [...found];
}

function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
