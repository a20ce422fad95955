import { ServiceHeartbeat } from '@quicksilver/jobs';
import type { TestRedis } from '@quicksilver/testing';

/** What writers and closers say of themselves at the moment. */
export async function heartbeats(redis: TestRedis): Promise<ServiceHeartbeat[]> {
  const keys = await redis.command('KEYS', 'quicksilver:service:*');
  if (!Array.isArray(keys)) return [];
  const values = await Promise.all(keys.map((key) => redis.command('GET', String(key))));
  return values.flatMap((value) => (typeof value === 'string' ? [ServiceHeartbeat.parse(JSON.parse(value))] : []));
}

/** Fields of a BullMQ job as they lie in Redis. */
export async function jobFields(redis: TestRedis, queue: string, id: string): Promise<ReadonlyMap<string, string>> {
  const flat = await redis.command('HGETALL', `quicksilver:${queue}:${id}`);
  const fields = new Map<string, string>();
  if (!Array.isArray(flat)) return fields;
  for (let i = 0; i + 1 < flat.length; i += 2) fields.set(String(flat[i]), String(flat[i + 1]));
  return fields;
}

/** In the shape that BullMQ takes. */
export function connectionTo(redis: TestRedis): { path: string } | { host: string; port: number } {
  const url = new URL(redis.url);
  return url.protocol === 'unix:' ? { path: url.pathname } : { host: url.hostname, port: Number(url.port) };
}
