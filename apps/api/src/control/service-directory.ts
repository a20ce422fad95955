import type { JobKind, ServiceHeartbeat } from '@quicksilver/jobs';
import { RedisUnavailable } from '../redis/redis-link.ts';
import type { RedisSignals } from '../redis/signals.ts';

/** Heartbeats come every 3 s: asking more often than this would tell nothing new. */
const FRESH_MS = 1000;

/** Who is there to work, by heartbeats. Undefined while Redis is away: then nobody knows. */
export class ServiceDirectory {
  readonly #signals: Pick<RedisSignals, 'heartbeats'>;
  readonly #cache = new Map<string, { at: number; beats: Promise<ServiceHeartbeat[] | undefined> }>();

  constructor(signals: Pick<RedisSignals, 'heartbeats'>) {
    this.#signals = signals;
  }

  async workers(kind: JobKind, volume: string): Promise<ServiceHeartbeat[] | undefined> {
    const key = `${kind}@${volume}`;
    const cached = this.#cache.get(key);
    if (cached && Date.now() - cached.at < FRESH_MS) return cached.beats;
    const beats = this.#signals.heartbeats(kind, volume).catch((err: unknown) => {
      if (err instanceof RedisUnavailable) return undefined;
      throw err;
    });
    this.#cache.set(key, { at: Date.now(), beats });
    return beats;
  }
}
