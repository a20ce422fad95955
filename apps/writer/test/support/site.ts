import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createLogger, loadConfig, redisOptions } from '@quicksilver/app-kit';
import { type CloneData, EVENT_STREAM_MAX, QUEUE_PREFIX, queueName } from '@quicksilver/jobs';
import { startRedis, type TestRedis, type TmpDir, tmpDir } from '@quicksilver/testing';
import { type Job, Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { WriterConfig } from '../../src/config.ts';
import { writerService } from '../../src/writer-service.ts';

/** A Redis, a clone queue and a directory that stands for a volume. */
export class Site implements AsyncDisposable {
  readonly server: TestRedis;
  readonly redis: Redis;
  readonly queue: Queue;
  readonly dir: TmpDir;
  readonly lines: Record<string, unknown>[] = [];
  readonly #apps: INestApplication[] = [];

  private constructor(server: TestRedis) {
    this.server = server;
    this.dir = tmpDir('qs-writer');
    this.redis = new Redis(redisOptions(server.url));
    this.redis.on('error', () => {});
    this.queue = new Queue(queueName('clone', 'main'), {
      connection: redisOptions(server.url),
      prefix: QUEUE_PREFIX,
      streams: { events: { maxLen: EVENT_STREAM_MAX } },
    });
    this.queue.on('error', () => {});
  }

  static async start(): Promise<Site> {
    return new Site(await startRedis({ appendOnly: true }));
  }

  get env(): Record<string, string> {
    return { REDIS_URL: this.server.url, QUICKSILVER_VOLUMES: `main=${this.dir.path}` };
  }

  /** A writer inside this process, over the fake engine. */
  async writer(env: Record<string, string> = {}): Promise<INestApplication> {
    const config = loadConfig(WriterConfig, { ...this.env, QUICKSILVER_GRACE: '100', ...env });
    const logger = createLogger('writer', 'debug', { write: (line: string) => this.lines.push(JSON.parse(line)) });
    const module = writerService({
      config,
      logger,
      engine: new URL('./fake-engine.ts', import.meta.url),
      engineEnv: process.env,
      volumeReady: async () => ({ ok: true }),
    });
    const app = await NestFactory.create(module, { logger: false, forceCloseConnections: true });
    await app.listen(0, '127.0.0.1');
    this.#apps.push(app);
    return app;
  }

  /** Adds a clone job; its source is the instruction of the fake engine. */
  async add(what: string, options: { attempts?: number; settings?: CloneData['settings'] } = {}): Promise<CloneJob> {
    const data: CloneData = {
      v: 1,
      task: { id: randomUUID(), number: 1, flow: 1 },
      mirror: { id: randomUUID(), name: 'mozilla/central' },
      volume: 'main',
      source: { kind: 'bundle-file', path: what },
      settings: options.settings ?? {},
    };
    const jobId = `${data.task.id}.1`;
    const { attempts = 4 } = options;
    await this.queue.add('clone', data, { jobId, attempts, backoff: { type: 'fixed', delay: 50 } });
    return { data, jobId };
  }

  async job(jobId: string): Promise<Job> {
    const job = await this.queue.getJob(jobId);
    if (!job) throw new Error(`no job ${jobId}`);
    return job;
  }

  async state(jobId: string): Promise<string> {
    return (await this.job(jobId)).getState();
  }

  /** Process ids of the engines that took up a job, in order. */
  get engines(): number[] {
    try {
      return readFileSync(this.dir.join('engines'), 'utf8').trim().split('\n').map(Number);
    } catch {
      return [];
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#apps.map((app) => app.close()));
    await this.queue.close();
    this.redis.disconnect();
    await this.server.stop();
    this.dir[Symbol.dispose]();
  }
}

export interface CloneJob {
  readonly data: CloneData;
  readonly jobId: string;
}

export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

export function childProcesses(): number[] {
  return readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ').map(Number);
}
