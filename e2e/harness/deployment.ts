import { copyFileSync, mkdirSync } from 'node:fs';
import { basename } from 'node:path';
import { Volume } from '@quicksilver/mirror';
import {
  type FaultRule,
  faultEnv,
  startRedis,
  type TestRedis,
  type TestRedisOptions,
  type TmpDir,
  tmpDir,
} from '@quicksilver/testing';
import { ApiClient } from './client.ts';
import { type App, Service } from './service.ts';

export interface DeploymentOptions {
  readonly apis?: number;
  readonly writers?: number;
  readonly closers?: number;
  readonly redis?: TestRedisOptions;
  /** For every service. */
  readonly env?: Readonly<Record<string, string>>;
  readonly writerEnv?: Readonly<Record<string, string>>;
  readonly closerEnv?: Readonly<Record<string, string>>;
  /** Microseconds that every opening of a file log takes in the writer's engines: stretches the writing. */
  readonly slowOpens?: number;
  /** Microseconds that the flush of a volume takes in the closer's engines. */
  readonly slowFlush?: number;
  /** A directory for the volume (default: a temporary one). */
  readonly volume?: string;
}

/** Short, so that a lost attempt is taken over within seconds. */
const SHORT_LOCKS = {
  QUICKSILVER_LOCK_DURATION: '2000',
  QUICKSILVER_STALLED_INTERVAL: '1000',
  QUICKSILVER_TICK: '500',
};

export const VOLUME = 'main';

/** API, writers and closers as processes, with a Redis, a volume and a folder of sources of their own. */
export class Deployment implements AsyncDisposable {
  readonly redis: TestRedis;
  readonly volume: string;
  readonly sources: string;
  readonly apis: readonly Service[];
  readonly writers: readonly Service[];
  readonly closers: readonly Service[];
  readonly client: ApiClient;
  readonly #dir: TmpDir;

  private constructor(dir: TmpDir, redis: TestRedis, options: DeploymentOptions) {
    this.#dir = dir;
    this.redis = redis;
    this.volume = options.volume ?? dir.join('volume');
    this.sources = dir.join('sources');
    mkdirSync(this.volume, { recursive: true });
    mkdirSync(this.sources, { recursive: true });
    const common = {
      ...SHORT_LOCKS,
      REDIS_URL: redis.url,
      QUICKSILVER_VOLUMES: `${VOLUME}=${this.volume}`,
      QUICKSILVER_SOURCE_ROOTS: this.sources,
      QUICKSILVER_BIND: '127.0.0.1',
      ...options.env,
    };
    const several = (app: App, count: number, env: Readonly<Record<string, string>>): Service[] =>
      Array.from({ length: count }, () => new Service(app, { ...common, ...env }));
    const health = { QUICKSILVER_HEALTH_PORT: '0' };
    this.apis = several('api', options.apis ?? 1, {
      QUICKSILVER_PORT: '0',
      QUICKSILVER_DATABASE: dir.join('quicksilver.db'),
    });
    const opens = slow({ kind: 'open', path: this.volume, has: '/store/data/', delay: options.slowOpens });
    const flushes = slow({ kind: 'syncfs', path: this.volume, delay: options.slowFlush });
    this.writers = several('writer', options.writers ?? 1, { ...health, ...opens, ...options.writerEnv });
    this.closers = several('closer', options.closers ?? 1, { ...health, ...flushes, ...options.closerEnv });
    this.client = new ApiClient(() => this.api.url);
  }

  static async start(options: DeploymentOptions = {}): Promise<Deployment> {
    const dir = tmpDir('qs-e2e');
    const redis = await startRedis(options.redis);
    const deployment = new Deployment(dir, redis, options);
    try {
      await Volume.init(deployment.volume, { name: VOLUME });
      await Promise.all(deployment.services.map((service) => service.start()));
    } catch (error) {
      await deployment[Symbol.asyncDispose]();
      throw error;
    }
    return deployment;
  }

  get services(): readonly Service[] {
    return [...this.apis, ...this.writers, ...this.closers];
  }

  get api(): Service {
    return first(this.apis);
  }

  get writer(): Service {
    return first(this.writers);
  }

  get closer(): Service {
    return first(this.closers);
  }

  /** Copies a file to where sources may come from. */
  source(file: string, name = basename(file)): string {
    const path = `${this.sources}/${name}`;
    copyFileSync(file, path);
    return path;
  }

  scratch(name: string): string {
    return this.#dir.join(name);
  }

  /** What every service said last: for the message of a failing test. */
  tail(): string {
    return this.services.map((service) => `--- ${service.app}\n${service.tail()}`).join('\n');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.services.map((service) => service.dispose()));
    await this.redis.stop();
    this.#dir[Symbol.dispose]();
  }
}

/** Environment under which calls of one kind take their time. */
function slow(rule: FaultRule): Record<string, string> {
  return rule.delay === undefined ? {} : faultEnv([rule]);
}

function first(services: readonly Service[]): Service {
  const [service] = services;
  if (!service) throw new Error('the deployment has no such service');
  return service;
}
