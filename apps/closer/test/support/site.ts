import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createLogger, loadConfig, redisOptions } from '@quicksilver/app-kit';
import { QUEUE_PREFIX, queueName, REDIS_KEYS, TaskOutcome, type TaskRequest, taskFlow } from '@quicksilver/jobs';
import { startRedis, type TestRedis, type TmpDir, tmpDir } from '@quicksilver/testing';
import { FlowProducer, type Job, Queue, UnrecoverableError, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { closerService } from '../../src/closer-service.ts';
import { CloserConfig } from '../../src/config.ts';

/** What a writer of these tests does with its clone jobs. */
export type Writer = (job: Job) => unknown;

/** A Redis, flows, a writer made of one function, and a directory that stands for a volume. */
export class Site implements AsyncDisposable {
  readonly server: TestRedis;
  readonly redis: Redis;
  readonly listener: Redis;
  readonly queue: Queue;
  readonly dir: TmpDir;
  readonly lines: Record<string, unknown>[] = [];
  /** Everything that was published, with the time. */
  readonly heard: { outcome: TaskOutcome; at: number }[] = [];
  readonly #flows: FlowProducer;
  readonly #apps: INestApplication[] = [];
  readonly #writers: Worker[] = [];

  private constructor(server: TestRedis) {
    this.server = server;
    this.dir = tmpDir('qs-closer');
    this.redis = new Redis(redisOptions(server.url));
    this.listener = new Redis(redisOptions(server.url));
    const connection = redisOptions(server.url);
    this.queue = new Queue(queueName('close', 'main'), { connection, prefix: QUEUE_PREFIX });
    this.#flows = new FlowProducer({ connection, prefix: QUEUE_PREFIX });
    for (const redis of [this.redis, this.listener]) redis.on('error', () => {});
    this.queue.on('error', () => {});
    this.#flows.on('error', () => {});
    this.listener.on('message', (_channel: string, text: string) => {
      this.heard.push({ outcome: TaskOutcome.parse(JSON.parse(text)), at: Date.now() });
    });
  }

  static async start(): Promise<Site> {
    const site = new Site(await startRedis({ appendOnly: true }));
    await site.listener.subscribe(REDIS_KEYS.outcomeChannel);
    return site;
  }

  get env(): Record<string, string> {
    return { REDIS_URL: this.server.url, QUICKSILVER_VOLUMES: `main=${this.dir.path}` };
  }

  async closer(env: Record<string, string> = {}): Promise<INestApplication> {
    const config = loadConfig(CloserConfig, { ...this.env, QUICKSILVER_GRACE: '100', ...env });
    const logger = createLogger('closer', 'debug', { write: (line: string) => this.lines.push(JSON.parse(line)) });
    const module = closerService({
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

  writer(write: Writer): void {
    const worker = new Worker(queueName('clone', 'main'), async (job: Job) => write(job), {
      connection: redisOptions(this.server.url),
      prefix: QUEUE_PREFIX,
    });
    worker.on('error', () => {});
    this.#writers.push(worker);
  }

  /** Adds the flow of a task; the mirror's name is the instruction of the fake engine. */
  async add(mirror: string, action: TaskRequest['action'] = 'clone'): Promise<TestTask> {
    const task = { id: randomUUID(), number: 1, flow: 1 };
    const request: TaskRequest = {
      action,
      task,
      mirror: { id: randomUUID(), name: mirror },
      volume: 'main',
      source: action === 'clone' ? { kind: 'bundle-file', path: '/x.hg' } : undefined,
      verify: 'quick',
      settings: {},
    };
    // The contract keeps BullMQ's own types out of `jobs`.
    await this.#flows.add(taskFlow(request) as Parameters<FlowProducer['add']>[0]);
    return { id: task.id, jobId: `${task.id}.1`, request };
  }

  async cancel({ request: { task, mirror, volume } }: TestTask): Promise<void> {
    const signal = JSON.stringify({ v: 1, task, mirror, volume });
    await this.redis.set(REDIS_KEYS.cancel(task.id), signal);
    await this.redis.publish(REDIS_KEYS.cancelChannel, signal);
  }

  async job(jobId: string): Promise<Job> {
    const job = await this.queue.getJob(jobId);
    if (!job) throw new Error(`no job ${jobId}`);
    return job;
  }

  async state(jobId: string): Promise<string> {
    return (await this.job(jobId)).getState();
  }

  /** What lies in Redis for whoever asks later. */
  async outcome(taskId: string): Promise<TaskOutcome | undefined> {
    const text = await this.redis.get(REDIS_KEYS.outcome(taskId));
    return text === null ? undefined : TaskOutcome.parse(JSON.parse(text));
  }

  published(taskId: string): TaskOutcome[] {
    return this.heard.filter(({ outcome }) => outcome.taskId === taskId).map(({ outcome }) => outcome);
  }

  /** Calls that reached an engine. */
  calls(kind: string, taskId?: string): Record<string, unknown>[] {
    let text = '';
    try {
      text = readFileSync(this.dir.join('calls'), 'utf8');
    } catch {
      return [];
    }
    const calls: Record<string, unknown>[] = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    return calls.filter(({ call, task }) => call === kind && (taskId === undefined || task === taskId));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#apps.map((app) => app.close()));
    await Promise.all(this.#writers.map((worker) => worker.close(true)));
    await Promise.all([this.queue.close(), this.#flows.close()]);
    this.redis.disconnect();
    this.listener.disconnect();
    await this.server.stop();
    this.dir[Symbol.dispose]();
  }
}

export interface TestTask {
  readonly id: string;
  readonly jobId: string;
  readonly request: TaskRequest;
}

export const written = (job: Job) => ({ v: 1, fence: 2, staging: `${job.data.task.id}.2`, write: { v: 1 } });

export function failFor(reason: string): never {
  throw new UnrecoverableError(reason);
}

export function childProcesses(): number[] {
  return readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ').map(Number);
}
