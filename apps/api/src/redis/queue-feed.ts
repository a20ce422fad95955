import { createRedis } from '@quicksilver/app-kit';
import { parseQueueName, QUEUE_PREFIX } from '@quicksilver/jobs';
import { QueueEvents } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Logger } from '../logger.ts';
import { withDeadline } from './redis-link.ts';

export interface QueueFeedHandlers {
  /** Data of a job's progress update; not yet checked. */
  readonly progress: (data: unknown) => void;
  /** Return value of a finished `close` job; not yet checked. */
  readonly closed: (value: unknown) => void;
}

interface Listener {
  readonly redis: Redis;
  readonly events: QueueEvents;
}

const CLOSE_DEADLINE_MS = 1000;
/** A read that was under way when the connection broke is given up only after this, so it is short. */
const BLOCKING_TIMEOUT_MS = 2000;

/**
 * Follows the event streams of queues. A convenience that makes things quick: whatever it misses during an outage is
 * found by the reconciler. BullMQ's listener can stop for good after an error, so each one that had trouble is
 * replaced when Redis is back, and goes on from the last event seen.
 */
export class QueueFeed implements AsyncDisposable {
  readonly #options: { readonly url: string; readonly logger: Logger; readonly handlers: QueueFeedHandlers };
  readonly #listeners = new Map<string, Listener>();
  readonly #lastIds = new Map<string, string>();
  readonly #troubled = new Set<string>();

  constructor(options: { url: string; logger: Logger; handlers: QueueFeedHandlers }) {
    this.#options = options;
  }

  follow(queue: string): void {
    const redis = createRedis(this.#options.url, 'worker', () => this.#troubled.add(queue));
    const lastEventId = this.#lastIds.get(queue);
    const events = new QueueEvents(queue, {
      connection: redis,
      prefix: QUEUE_PREFIX,
      skipVersionCheck: true,
      blockingTimeout: BLOCKING_TIMEOUT_MS,
      ...(lastEventId ? { lastEventId } : {}),
    });
    events.on('error', (err) => {
      this.#troubled.add(queue);
      this.#options.logger.debug({ err, queue }, 'queue events');
    });
    events.on('progress', ({ data }, id) => {
      this.#lastIds.set(queue, id);
      this.#options.handlers.progress(data);
    });
    events.on('completed', ({ returnvalue }, id) => {
      this.#lastIds.set(queue, id);
      if (parseQueueName(queue)?.kind === 'close') this.#options.handlers.closed(returnvalue);
    });
    this.#listeners.set(queue, { redis, events });
  }

  /** To be called while Redis answers: replaces what had trouble. */
  async revive(): Promise<void> {
    const queues = [...this.#troubled];
    this.#troubled.clear();
    for (const queue of queues) {
      const old = this.#listeners.get(queue);
      this.#listeners.delete(queue);
      if (old) await closeListener(old);
      this.follow(queue);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const listeners = [...this.#listeners.values()];
    this.#listeners.clear();
    await Promise.all(listeners.map(closeListener));
  }
}

async function closeListener({ redis, events }: Listener): Promise<void> {
  // In this order: the listener knows that it is closing when its read fails, and does not wait to try again; and
  // while Redis is away nothing waits for it in order to say goodbye.
  const closed = events.close();
  redis.disconnect();
  await withDeadline(closed, CLOSE_DEADLINE_MS).catch(() => {});
}
