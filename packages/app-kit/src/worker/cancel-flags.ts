import { CancelSignal, REDIS_KEYS } from '@quicksilver/jobs';
import type { Redis } from 'ioredis';

const SCAN_COUNT = 500;

export async function isCancelled(redis: Redis, taskId: string): Promise<boolean> {
  return (await redis.exists(REDIS_KEYS.cancel(taskId))) === 1;
}

/** Which of these tasks are to be cancelled. */
export async function cancelledAmong(redis: Redis, taskIds: readonly string[]): Promise<string[]> {
  if (taskIds.length === 0) return [];
  const flags = await redis.mget(...taskIds.map((id) => REDIS_KEYS.cancel(id)));
  return taskIds.filter((_, i) => flags[i] !== null && flags[i] !== undefined);
}

/**
 * Cancels of tasks without an outcome: messages of the channel that nobody heard (a service that was down, a connection
 * that was lost). The value of a flag is the signal itself. Flags outlive their task by a day, so most are settled.
 */
export async function pendingCancels(redis: Redis): Promise<CancelSignal[]> {
  const found: CancelSignal[] = [];
  let cursor = '0';
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', REDIS_KEYS.cancel('*'), 'COUNT', SCAN_COUNT);
    cursor = next;
    const values = keys.length > 0 ? await redis.mget(...keys) : [];
    const signals = values.flatMap((value) => (value ? (readCancelSignal(value) ?? []) : []));
    if (signals.length === 0) continue;
    const outcomes = await redis.mget(...signals.map(({ task }) => REDIS_KEYS.outcome(task.id)));
    found.push(...signals.filter((_, i) => !outcomes[i]));
  } while (cursor !== '0');
  return found;
}

export function readCancelSignal(text: string): CancelSignal | undefined {
  try {
    const parsed = CancelSignal.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
