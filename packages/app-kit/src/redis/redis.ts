import { Redis } from 'ioredis';

/** `worker`: waits for Redis as long as it takes. `command`: fails within seconds, for whoever answers a request. */
export type RedisRole = 'worker' | 'command';

/** Plain options, fit for ioredis and for BullMQ's `connection` alike (their own option types differ). */
export interface RedisConnection {
  readonly host?: string;
  readonly port?: number;
  readonly path?: string;
  readonly username?: string;
  readonly password?: string;
  readonly db?: number;
  readonly tls?: { readonly servername: string };
  readonly keepAlive?: number;
  readonly connectTimeout: number;
  readonly maxRetriesPerRequest: number | null;
  readonly commandTimeout?: number;
  readonly retryStrategy: (times: number) => number;
}

/** Never longer than a second: a service has to be back within seconds of Redis. (BullMQ's own goes up to 20 s.) */
const retryStrategy = (times: number): number => Math.min(50 * 2 ** Math.min(times, 10), 1000);

const COMMAND_TIMEOUT = 3000;

/** @throws TypeError when `url` is none of redis://, rediss://, unix:///path and an absolute path */
export function redisOptions(url: string, role: RedisRole = 'worker'): RedisConnection {
  const common = {
    connectTimeout: 5000,
    retryStrategy,
    // A blocking read must not be counted as late, so only the command role has a time limit.
    ...(role === 'worker'
      ? { maxRetriesPerRequest: null }
      : { maxRetriesPerRequest: 1, commandTimeout: COMMAND_TIMEOUT }),
  };
  if (url.startsWith('/')) return { path: url, ...common };
  const parsed = new URL(url);
  const credentials = {
    ...(parsed.username ? { username: decodeURIComponent(parsed.username) } : {}),
    ...(parsed.password ? { password: decodeURIComponent(parsed.password) } : {}),
  };
  switch (parsed.protocol) {
    case 'unix:':
      return { path: decodeURIComponent(parsed.pathname), ...credentials, ...common };
    case 'redis:':
    case 'rediss:': {
      const host = parsed.hostname.replace(/^\[(.*)\]$/, '$1') || '127.0.0.1';
      const db = /^\/(\d+)$/.exec(parsed.pathname)?.[1];
      return {
        host,
        // A peer that went without a word is noticed while nothing is sent, too.
        keepAlive: 5000,
        port: parsed.port ? Number(parsed.port) : 6379,
        ...(db ? { db: Number(db) } : {}),
        ...(parsed.protocol === 'rediss:' ? { tls: { servername: host } } : {}),
        ...credentials,
        ...common,
      };
    }
    default:
      throw new TypeError('a Redis address is redis://, rediss://, unix:///path or an absolute path');
  }
}

/** One connection. Errors of the connection go to `onError`: without a listener ioredis would print them. */
export function createRedis(url: string, role: RedisRole, onError: (err: Error) => void = () => {}): Redis {
  const redis = new Redis(redisOptions(url, role));
  redis.on('error', onError);
  return redis;
}
