import { type CancelSignal, REDIS_KEYS } from '@quicksilver/jobs';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { readCancelSignal } from './cancel-flags.ts';

export interface ControlListener {
  onCancel(signal: CancelSignal): void;
  /** The concurrency of this queue changed; also called with undefined when messages may have been missed. */
  onConcurrency(queue: string | undefined): void;
  /** Subscribed, at start and after every lost connection: what was said meanwhile has to be looked up. */
  onSubscribed(): void;
}

/** Listens to what the API says to the data plane. Signals are hints: the flags in Redis are what counts. */
export class ControlChannel {
  readonly #redis: Redis;

  /** `redis` must be a connection of its own: a subscriber can do nothing else. */
  constructor(redis: Redis, listener: ControlListener, logger: Logger) {
    this.#redis = redis;
    redis.on('message', (channel: string, message: string) => {
      if (channel === REDIS_KEYS.concurrencyChannel) {
        listener.onConcurrency(message);
        return;
      }
      const signal = readCancelSignal(message);
      if (signal) listener.onCancel(signal);
      else logger.warn('unreadable cancel signal');
    });
    redis.on('ready', () => {
      // Subscribing twice is harmless; awaiting it here means that nothing said afterwards is missed.
      redis.subscribe(REDIS_KEYS.cancelChannel, REDIS_KEYS.concurrencyChannel).then(
        () => listener.onSubscribed(),
        () => {},
      );
    });
  }

  close(): void {
    this.#redis.disconnect();
  }
}
