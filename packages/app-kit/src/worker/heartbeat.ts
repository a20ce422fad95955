import { hostname } from 'node:os';
import { HEARTBEAT_TTL_SECONDS, REDIS_KEYS, type ServiceHeartbeat } from '@quicksilver/jobs';
import type { Redis } from 'ioredis';
import type { LoopMonitor } from '../health/loop-monitor.ts';
import type { QueueConsumer } from './queue-consumer.ts';

export interface HeartbeatOptions {
  readonly redis: Redis;
  /** Tells processes on one host apart. */
  readonly instance: string;
  readonly loop: LoopMonitor;
  readonly consumers: () => readonly QueueConsumer[];
  readonly onBeat?: (beat: ServiceHeartbeat) => void;
}

const INTERVAL_MS = 3000;

/** Says every 3 s, per queue, that this process is alive and how its event loop does: a key that expires by itself. */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #timer: NodeJS.Timeout;
  #beating: Promise<void> | undefined;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#tick(), INTERVAL_MS);
  }

  /** The first beat of a new consumer need not wait for the interval. */
  now(): void {
    this.#tick();
  }

  /** Takes the keys away, so that nobody waits for a process that has gone. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#beating;
    const keys = this.#options.consumers().map((consumer) => this.#key(consumer));
    if (keys.length > 0) await this.#options.redis.del(...keys);
  }

  #tick(): void {
    // While Redis is away one beat waits, not a heap of them.
    if (this.#beating) return;
    this.#beating = this.#beat().finally(() => {
      this.#beating = undefined;
    });
  }

  async #beat(): Promise<void> {
    const { instance, loop, consumers, onBeat, redis } = this.#options;
    const loopDelay = loop.read();
    try {
      for (const consumer of consumers()) {
        const beat: ServiceHeartbeat = {
          kind: consumer.kind,
          volume: consumer.volume,
          instance,
          host: hostname(),
          pid: process.pid,
          concurrency: consumer.concurrency,
          active: consumer.active.size,
          loopDelay,
          at: Date.now(),
        };
        onBeat?.(beat);
        await redis.set(this.#key(consumer), JSON.stringify(beat), 'EX', HEARTBEAT_TTL_SECONDS);
      }
    } catch {
      // The connection is being closed.
    }
  }

  #key(consumer: QueueConsumer): string {
    return REDIS_KEYS.heartbeat(consumer.kind, consumer.volume, this.#options.instance);
  }
}
