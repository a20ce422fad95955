import type { RespValue } from './resp.ts';

export interface TestRedisOptions {
  /** Append-only file, so that what was acknowledged survives `kill9` (default false: a restart comes back empty). */
  readonly appendOnly?: boolean;
  /** `maxmemory-policy` (default `noeviction`). */
  readonly policy?: string;
  /** The server refuses CONFIG, as managed ones do. */
  readonly hideConfig?: boolean;
}

export interface TestRedis extends AsyncDisposable {
  readonly kind: 'container' | 'local';
  /** `unix://<path>` or `redis://host:port`; the same for the whole life, restarts included. */
  readonly url: string;
  command(...args: string[]): Promise<RespValue>;
  flush(): Promise<void>;
  /** SIGKILL; nothing is written any more. */
  kill9(): Promise<void>;
  /** An orderly stop, to be followed by `start`. */
  shutdown(): Promise<void>;
  /** Starts it again on the same data and address. */
  start(): Promise<void>;
  /** Freezes (SIGSTOP) or thaws it: connections stay open and are not answered. */
  freeze(on: boolean): Promise<void>;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

/** Settings both kinds are started with. */
export function redisArguments(options: TestRedisOptions): string[] {
  return [
    '--save',
    '',
    '--appendonly',
    options.appendOnly ? 'yes' : 'no',
    '--appendfsync',
    'always',
    '--maxmemory-policy',
    options.policy ?? 'noeviction',
    ...(options.hideConfig ? ['--rename-command', 'CONFIG', ''] : []),
  ];
}
