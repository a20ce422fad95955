import { REDIS_KEYS, SIGNAL_TTL_SECONDS, TaskOutcome } from '@quicksilver/jobs';
import type { Redis } from 'ioredis';
import { SettledWork } from './close-work.ts';

/** Tells the API how tasks ended: kept for whoever asks later, and published for whoever listens. */
export class Outcomes {
  readonly #redis: Redis;

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  /** Safe to repeat: the same task always has the same outcome, since the lane holds it. */
  async tell(taskId: string, settled: unknown): Promise<TaskOutcome> {
    const outcome = TaskOutcome.parse({ v: 1, taskId, ...SettledWork.parse(settled) });
    const text = JSON.stringify(outcome);
    await this.#redis.set(REDIS_KEYS.outcome(taskId), text, 'EX', SIGNAL_TTL_SECONDS);
    await this.#redis.publish(REDIS_KEYS.outcomeChannel, text);
    return outcome;
  }
}
