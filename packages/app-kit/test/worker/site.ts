import { randomUUID } from 'node:crypto';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  type CancelSignal,
  CloneData,
  type MirrorRef,
  QUEUE_PREFIX,
  queueName,
  WORKER_SETTINGS,
} from '@quicksilver/jobs';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import type { HealthResult } from '../../src/health/health-registry.ts';
import { redisOptions } from '../../src/redis/redis.ts';
import type { JobContext, JobHandler } from '../../src/worker/job-handler.ts';
import { JobServiceModule } from '../../src/worker/job-service.module.ts';
import { JobService, type JobServiceOptions } from '../../src/worker/job-service.ts';
import { memoryLogger } from '../memory-logger.ts';

export type Run = (data: CloneData, ctx: JobContext) => Promise<unknown>;

export interface ServiceSetup {
  readonly run: Run;
  readonly volume: string;
  readonly concurrency?: number;
  readonly lockDuration?: number;
  readonly stalledInterval?: number;
  readonly options?: Partial<JobServiceOptions<CloneData, unknown>>;
  readonly onCancel?: (signal: CancelSignal) => Promise<void>;
  readonly ready?: () => Promise<HealthResult>;
}

export interface TestService {
  readonly app: INestApplication;
  readonly url: string;
  readonly service: JobService<CloneData, unknown>;
  readonly lines: Record<string, unknown>[];
  readonly sizes: number[];
  readonly health: (path: 'healthz' | 'readyz') => Promise<{ status: number; text: string }>;
  readonly stop: () => Promise<void>;
}

/** A Redis, the queues of a test, and services that take their jobs inside this process. */
export class Site implements AsyncDisposable {
  readonly redis: Redis;
  readonly #url: string;
  readonly #queues: Queue[] = [];
  readonly #services: TestService[] = [];

  constructor(url: string) {
    this.#url = url;
    this.redis = new Redis(redisOptions(url, 'worker'));
    this.redis.on('error', () => {});
  }

  queue(volume: string): Queue {
    const queue = new Queue(queueName('clone', volume), { connection: redisOptions(this.#url), prefix: QUEUE_PREFIX });
    queue.on('error', () => {});
    this.#queues.push(queue);
    return queue;
  }

  async start(setup: ServiceSetup): Promise<TestService> {
    const { logger, lines } = memoryLogger();
    const sizes: number[] = [];
    const handler: JobHandler<CloneData, unknown> = {
      schema: CloneData,
      firstStage: 'plan',
      cancelEnds: true,
      run: setup.run,
    };
    const module = JobServiceModule.forRoot<CloneData, unknown>('test', {
      kind: 'clone',
      redisUrl: this.#url,
      policyOverride: false,
      volumes: [{ name: setup.volume, path: '/' }],
      settings: {
        ...WORKER_SETTINGS.clone,
        concurrency: setup.concurrency ?? 2,
        lockDuration: setup.lockDuration ?? 30_000,
        stalledInterval: setup.stalledInterval ?? 15_000,
      },
      grace: 100,
      logger,
      work: () => ({
        handler,
        resize: (size) => sizes.push(size),
        ready: setup.ready ?? (async () => ({ ok: true })),
        close: async () => {},
        ...(setup.onCancel ? { onCancel: setup.onCancel } : {}),
      }),
      ...setup.options,
    });
    const app = await NestFactory.create(module, { logger: false, forceCloseConnections: true });
    await app.listen(0, '127.0.0.1');
    const url = await app.getUrl();
    let stopped: Promise<void> | undefined;
    const service: TestService = {
      app,
      url,
      service: app.get(JobService),
      lines,
      sizes,
      health: async (path) => {
        const response = await fetch(`${url}/${path}`);
        return { status: response.status, text: await response.text() };
      },
      stop: () => {
        stopped ??= app.close();
        return stopped;
      },
    };
    this.#services.push(service);
    return service;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#services.map((service) => service.stop()));
    await Promise.all(this.#queues.map((queue) => queue.close().catch(() => {})));
    this.redis.disconnect();
  }
}

export const MIRROR: MirrorRef = { id: randomUUID(), name: 'mozilla/central' };

export function cloneData(volume: string, path = '/tmp/x.hg'): CloneData {
  return {
    v: 1,
    task: { id: randomUUID(), number: 1, flow: 1 },
    mirror: MIRROR,
    volume,
    source: { kind: 'bundle-file', path },
    settings: {},
  };
}

export function pathOf({ source }: CloneData): string {
  return source.kind === 'bundle-file' ? source.path : source.url;
}

/** Resolves when the signal aborts, as an engine does that heeds it. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = () => reject(Object.assign(new Error('aborted'), { code: 'HG_CANCELLED' }));
    if (signal.aborted) fail();
    else signal.addEventListener('abort', fail, { once: true });
  });
}
