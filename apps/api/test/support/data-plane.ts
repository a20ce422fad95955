import { redisOptions } from '@quicksilver/app-kit';
import {
  CancelSignal,
  CloneData,
  CloneResult,
  CloseData,
  HEARTBEAT_TTL_SECONDS,
  type Progress,
  QUEUE_PREFIX,
  queueName,
  REDIS_KEYS,
  type ServiceHeartbeat,
  TaskOutcome,
} from '@quicksilver/jobs';
import type { TestRedis } from '@quicksilver/testing';
import { type Job, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import type { z } from 'zod';

type Outcome = z.infer<typeof TaskOutcome>;

/** What the parts of the data plane do in a test; each may throw, wait, or answer at once. */
export interface Roles {
  readonly clone?: (data: CloneData, job: Job) => Promise<void>;
  readonly close?: (data: CloseData, job: Job) => Promise<Partial<Outcome> | undefined>;
  /** Reports outcomes by channel and key as well as by return value (default true). */
  readonly announce?: boolean;
  /** Settles as cancelled on a signal (default true). */
  readonly cancel?: boolean;
  readonly volume?: string;
}

/**
 * Writer and closer of a volume without any repositories: real BullMQ workers that keep the contract of outcomes, so
 * that what the control plane sees of them is real. The lane is a map here.
 */
export class TestDataPlane implements AsyncDisposable {
  /** Task id -> its one recorded outcome. */
  readonly lane = new Map<string, Outcome>();
  readonly cloned: CloneData[] = [];
  readonly closed: CloseData[] = [];
  readonly signals: CancelSignal[] = [];
  readonly #generations = new Map<string, number>();
  readonly #roles: Roles;
  readonly #redis: Redis;
  readonly #subscriber: Redis;
  readonly #workers: Worker[];

  private constructor(url: string, roles: Roles) {
    this.#roles = roles;
    this.#redis = connect(url);
    this.#subscriber = connect(url);
    const volume = roles.volume ?? 'main';
    const options = {
      connection: redisOptions(url, 'worker'),
      prefix: QUEUE_PREFIX,
      concurrency: 8,
      drainDelay: 1,
      lockDuration: 5000,
    };
    this.#workers = [
      new Worker(queueName('clone', volume), (job) => this.#clone(job), options),
      new Worker(queueName('close', volume), (job) => this.#close(job), options),
    ];
    for (const worker of this.#workers) worker.on('error', () => {});
    this.#subscriber.on('message', (_channel, text) => this.#cancelled(CancelSignal.parse(JSON.parse(text))));
  }

  static async start(redis: Pick<TestRedis, 'url'>, roles: Roles = {}): Promise<TestDataPlane> {
    const plane = new TestDataPlane(redis.url, roles);
    await Promise.all(plane.#workers.map((worker) => worker.waitUntilReady()));
    await plane.#subscriber.subscribe(REDIS_KEYS.cancelChannel);
    return plane;
  }

  async heartbeat(kind: 'clone' | 'close', instance: string, concurrency = 2): Promise<void> {
    const volume = this.#roles.volume ?? 'main';
    const beat: ServiceHeartbeat = {
      kind,
      volume,
      instance,
      host: 'test-host',
      pid: process.pid,
      concurrency,
      active: 0,
      loopDelay: { p99: 1, max: 2 },
      at: Date.now(),
    };
    await this.#redis.set(
      REDIS_KEYS.heartbeat(kind, volume, instance),
      JSON.stringify(beat),
      'EX',
      HEARTBEAT_TTL_SECONDS,
    );
  }

  async #clone(job: Job): Promise<CloneResult> {
    const data = CloneData.parse(job.data);
    this.cloned.push(data);
    await this.#roles.clone?.(data, job);
    return { v: 1, fence: 1, staging: `${data.task.id}.1`, write: {} };
  }

  async #close(job: Job): Promise<Outcome> {
    const data = CloseData.parse(job.data);
    this.closed.push(data);
    const asked = await this.#roles.close?.(data, job);
    const children = Object.values(await job.getChildrenValues());
    const written = children.some((child) => CloneResult.safeParse(child).success);
    const state = data.action === 'retire' || written ? 'ready' : 'failed';
    return this.#record(data, { state, ...asked });
  }

  /** As on a volume: the first outcome of a task is the only one. */
  async #record(
    data: { task: { id: string }; mirror: { name: string }; action?: string },
    said: Partial<Outcome>,
  ): Promise<Outcome> {
    const recorded = this.lane.get(data.task.id) ?? this.#outcome(data, said);
    this.lane.set(data.task.id, recorded);
    if (this.#roles.announce ?? true) await this.announce(recorded);
    return recorded;
  }

  #outcome(data: { task: { id: string }; mirror: { name: string }; action?: string }, said: Partial<Outcome>): Outcome {
    const base = { v: 1, taskId: data.task.id, state: 'ready', ...said } as const;
    if (base.state !== 'ready' || data.action === 'retire') return base;
    const generation = (this.#generations.get(data.mirror.name) ?? 0) + 1;
    this.#generations.set(data.mirror.name, generation);
    return { generation, path: `/vol/mirrors/${data.mirror.name}`, receipt: { v: 1, generation }, ...base };
  }

  async announce(outcome: Outcome): Promise<void> {
    const text = JSON.stringify(outcome);
    await this.#redis.set(REDIS_KEYS.outcome(outcome.taskId), text, 'EX', 60);
    await this.#redis.publish(REDIS_KEYS.outcomeChannel, text);
  }

  #cancelled(signal: CancelSignal): void {
    this.signals.push(signal);
    if (this.#roles.cancel ?? true) void this.#record(signal, { state: 'cancelled' });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#subscriber.disconnect();
    await Promise.all(this.#workers.map((worker) => worker.close(true)));
    this.#redis.disconnect();
  }
}

function connect(url: string): Redis {
  const redis = new Redis({ ...redisOptions(url, 'worker') });
  redis.on('error', () => {});
  return redis;
}

export function progressOf(data: { task: { id: string } }, done: number): Progress {
  const part = { done, total: 100 };
  return { v: 1, taskId: data.task.id, stage: 'write', files: part, bytes: part, rate: 1, at: Date.now() };
}

/** A promise that the test opens. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}
