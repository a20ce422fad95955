import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BeforeApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { type CancelSignal, type JobKind, REDIS_KEYS, type WorkerSettings } from '@quicksilver/jobs';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import type { VolumeSetting } from '../config/settings.ts';
import type { HealthRegistry, HealthResult } from '../health/health-registry.ts';
import { LoopMonitor } from '../health/loop-monitor.ts';
import { createRedis, redisOptions } from '../redis/redis.ts';
import { RedisGuard } from '../redis/redis-guard.ts';
import type { ActiveJob } from './active-job.ts';
import { cancelledAmong, isCancelled, pendingCancels } from './cancel-flags.ts';
import { ControlChannel } from './control-channel.ts';
import { Heartbeat } from './heartbeat.ts';
import type { JobHandler, TaskPayload } from './job-handler.ts';
import type { JobMetrics } from './job-metrics.ts';
import { jobProcessor } from './job-processor.ts';
import { type ConsumerWatch, QueueConsumer } from './queue-consumer.ts';

/** What an app brings along for one volume. */
export interface VolumeWork<Data extends TaskPayload, Result> {
  readonly handler: JobHandler<Data, Result>;
  /** Slots follow the queue's concurrency. */
  readonly resize: (concurrency: number) => void;
  /**
   * Whether jobs of this volume can be done here at all. Nothing is taken until they can; what fails while they
   * cannot is handed back.
   */
  readonly ready: () => Promise<HealthResult>;
  /** Jobs are about to be taken. */
  readonly begin?: () => void;
  /** A task of this volume is to be cancelled, whether or not a job of it runs here. Repeated until it resolves. */
  readonly onCancel?: (signal: CancelSignal) => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface JobServiceOptions<Data extends TaskPayload, Result> {
  readonly kind: JobKind;
  readonly redisUrl: string;
  readonly policyOverride: boolean;
  readonly volumes: readonly VolumeSetting[];
  readonly settings: WorkerSettings;
  /** Milliseconds that running jobs get after a stop signal. */
  readonly grace: number;
  readonly logger: Logger;
  readonly work: (volume: VolumeSetting, redis: Redis) => VolumeWork<Data, Result>;
  /** For tests: another pace of the watch over the workers, other workers. */
  readonly watch?: ConsumerWatch;
}

const CANCEL_POLL_MS = 500;
const START_RETRY_MS = 1000;
const CANCEL_TRIES = 30;
/** Handing back needs Redis; a service that is to go does not wait for it longer than this. */
const HAND_BACK_MS = 4000;

interface Lane<Data extends TaskPayload, Result> {
  readonly volume: VolumeSetting;
  readonly work: VolumeWork<Data, Result>;
  readonly consumer: QueueConsumer;
}

/**
 * The life of a data-plane service, the same for every kind of job:
 *
 *   start: Redis fit for use -> volume there -> worker, control channel, heartbeat
 *   stop:  not ready -> take no more -> wait for running jobs (grace) -> make them let go -> handed back -> closed
 */
export class JobService<Data extends TaskPayload, Result> implements OnModuleInit, BeforeApplicationShutdown {
  readonly #options: JobServiceOptions<Data, Result>;
  readonly #health: HealthRegistry;
  readonly #metrics: JobMetrics;
  readonly #logger: Logger;
  /** Waits for Redis: flags, outcomes, heartbeats. */
  readonly #redis: Redis;
  /** Fails fast: health. */
  readonly #commands: Redis;
  readonly #guard: RedisGuard;
  readonly #lanes: Lane<Data, Result>[] = [];
  readonly #cancelling = new Set<string>();
  readonly #loop = new LoopMonitor();
  readonly #stopping = new AbortController();
  readonly #started: Promise<void>[] = [];
  #control: ControlChannel | undefined;
  #heartbeat: Heartbeat | undefined;
  #poll: NodeJS.Timeout | undefined;
  #polling = false;
  #reading: Promise<void> = Promise.resolve();

  constructor(options: JobServiceOptions<Data, Result>, health: HealthRegistry, metrics: JobMetrics) {
    this.#options = options;
    this.#health = health;
    this.#metrics = metrics;
    this.#logger = options.logger;
    const onError = (err: Error) => this.#logger.debug({ reason: err.message }, 'Redis connection');
    this.#redis = createRedis(options.redisUrl, 'worker', onError);
    this.#commands = createRedis(options.redisUrl, 'command', onError);
    this.#guard = new RedisGuard({
      redis: this.#commands,
      logger: options.logger,
      override: options.policyOverride,
    });
  }

  onModuleInit(): void {
    this.#health.register('redis', () => this.#guard.ping(), 'ready');
    this.#health.register('redis-settings', () => this.#guard.check(), 'ready');
    this.#health.register('taking-work', () => this.#takingWork(), 'ready');
    for (const volume of this.#options.volumes) this.#started.push(this.#startVolume(volume));
    this.#control = new ControlChannel(
      createRedis(this.#options.redisUrl, 'worker'),
      {
        onCancel: (signal) => this.#cancel(signal),
        onConcurrency: () => void this.#readConcurrency(),
        onSubscribed: () => void this.#catchUp(),
      },
      this.#logger,
    );
    this.#poll = setInterval(() => void this.#pollFlags(), CANCEL_POLL_MS);
    this.#heartbeat = new Heartbeat({
      redis: this.#redis,
      instance: randomUUID(),
      loop: this.#loop,
      consumers: () => this.#lanes.map(({ consumer }) => consumer),
      onBeat: (beat) => this.#metrics.beat(beat),
    });
  }

  /** Consumption of each volume, once it has begun. */
  get consumers(): readonly QueueConsumer[] {
    return this.#lanes.map(({ consumer }) => consumer);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.#stopping.abort();
    clearInterval(this.#poll);
    // A volume that hangs may keep its start from ending.
    await within(Promise.all(this.#started), 1000);
    const { grace } = this.#options;
    const closed = Promise.all(this.#lanes.map(({ consumer }) => consumer.close())).catch((err: unknown) => {
      this.#logger.warn({ err }, 'closing the workers failed');
    });
    if (!(await within(closed, grace))) {
      for (const { consumer } of this.#lanes) consumer.stopJobs('draining');
      if (!(await within(closed, HAND_BACK_MS)))
        this.#logger.warn('jobs could not be handed back: their locks run out');
    }
    await Promise.all(this.#lanes.map(({ work }) => work.close()));
    await within(this.#heartbeat?.stop() ?? Promise.resolve(), 1000);
    this.#loop[Symbol.dispose]();
    this.#control?.close();
    this.#redis.disconnect();
    this.#commands.disconnect();
  }

  /** Waits until jobs of this volume can be done, then begins to take them. */
  async #startVolume(volume: VolumeSetting): Promise<void> {
    const { kind, redisUrl, settings, logger } = this.#options;
    const work = this.#options.work(volume, this.#redis);
    this.#health.register(`volume:${volume.name}`, () => work.ready(), 'ready');
    if (!(await this.#untilFit(volume, work))) {
      await work.close();
      return;
    }
    const consumer = new QueueConsumer(
      {
        kind,
        volume: volume.name,
        settings,
        connection: redisOptions(redisUrl, 'worker'),
        commands: this.#commands,
        logger,
        onRenewed: () => this.#metrics.renewed(kind, volume.name),
        watch: this.#options.watch,
      },
      (track) =>
        jobProcessor({
          handler: work.handler,
          logger,
          track,
          isCancelled: (taskId) => isCancelled(this.#redis, taskId),
          ready: work.ready,
          ended: (end) => this.#metrics.ended({ kind, volume: volume.name, end }),
        }),
    );
    this.#health.register(`consumer:${consumer.queue}`, () => consumer.health(), 'health');
    this.#lanes.push({ volume, work, consumer });
    work.begin?.();
    this.#heartbeat?.now();
    logger.info({ queue: consumer.queue, concurrency: consumer.concurrency }, 'taking jobs');
    await this.#readConcurrency();
    await this.#catchUp();
  }

  async #untilFit(volume: VolumeSetting, work: VolumeWork<Data, Result>): Promise<boolean> {
    let said: string | undefined;
    while (!this.#stopping.signal.aborted) {
      const redis = await this.#guard.check();
      const ready = redis.ok ? await work.ready() : redis;
      if (ready.ok) return true;
      if (ready.reason !== said)
        this.#logger.warn({ volume: volume.name, reason: ready.reason }, 'not taking jobs yet');
      said = ready.reason;
      await sleep(START_RETRY_MS, undefined, { signal: this.#stopping.signal }).catch(() => {});
    }
    return false;
  }

  #takingWork(): HealthResult {
    if (this.#stopping.signal.aborted) return { ok: false, reason: 'draining' };
    const missing = this.#options.volumes.length - this.#lanes.length;
    return missing === 0 ? { ok: true } : { ok: false, reason: `${missing} volume(s) not served yet` };
  }

  /**
   * The concurrency set through the API, per worker process; without one the configured number holds. One reading after
   * the other: a change takes a moment, and an older reading must not be what a queue ends with.
   */
  #readConcurrency(): Promise<void> {
    this.#reading = this.#reading.then(() => this.#applyConcurrency());
    return this.#reading;
  }

  async #applyConcurrency(): Promise<void> {
    try {
      const set = await this.#redis.hgetall(REDIS_KEYS.concurrency);
      for (const { consumer, work } of this.#lanes) {
        const value = Number(set[consumer.queue] ?? this.#options.settings.concurrency);
        if (!Number.isInteger(value) || value < 1 || value > 1000) continue;
        work.resize(value);
        await consumer.setConcurrency(value);
      }
    } catch (err) {
      this.#logger.warn({ err }, 'the concurrency could not be read');
    }
  }

  /** Looks up what was said while nobody listened. */
  async #catchUp(): Promise<void> {
    if (this.#lanes.length === 0) return;
    await this.#readConcurrency();
    try {
      for (const signal of await pendingCancels(this.#redis)) this.#cancel(signal);
    } catch (err) {
      this.#logger.warn({ err }, 'pending cancels could not be read');
    }
  }

  async #pollFlags(): Promise<void> {
    const jobs = this.#lanes.flatMap(({ consumer }) => [...consumer.active]).filter((job) => !job.cancelled);
    if (this.#polling || jobs.length === 0) return;
    this.#polling = true;
    try {
      const flagged = new Set(await cancelledAmong(this.#redis, [...new Set(jobs.map((job) => job.task.id))]));
      for (const job of jobs) if (flagged.has(job.task.id)) this.#cancelJob(job);
    } catch {
      // Redis is away: the next poll sees the flag.
    } finally {
      this.#polling = false;
    }
  }

  #cancelJob(job: ActiveJob): void {
    if (job.cancelled) return;
    this.#logger.info({ job: job.jobId, task: job.task.id, mirror: job.mirror.name }, 'cancelling');
    job.cancel();
  }

  #cancel(signal: CancelSignal): void {
    const lane = this.#lanes.find(({ volume }) => volume.name === signal.volume);
    if (!lane) return;
    for (const job of lane.consumer.active) if (job.task.id === signal.task.id) this.#cancelJob(job);
    if (lane.work.onCancel) void this.#settleCancel(signal, lane.work.onCancel);
  }

  /** One at a time per task; a fault is tried again for a while (the lane may be held), then left to the next signal. */
  async #settleCancel(signal: CancelSignal, onCancel: (signal: CancelSignal) => Promise<void>): Promise<void> {
    const { id } = signal.task;
    if (this.#cancelling.has(id)) return;
    this.#cancelling.add(id);
    try {
      for (let tries = 1; tries <= CANCEL_TRIES && !this.#stopping.signal.aborted; tries += 1) {
        try {
          await onCancel(signal);
          return;
        } catch (err) {
          this.#logger.warn({ err, task: id, mirror: signal.mirror.name, tries }, 'cancelling failed');
          await sleep(500, undefined, { signal: this.#stopping.signal }).catch(() => {});
        }
      }
    } finally {
      this.#cancelling.delete(id);
    }
  }
}

/** True when `work` ended in time. */
async function within(work: Promise<unknown>, ms: number): Promise<boolean> {
  const late = new AbortController();
  try {
    return await Promise.race([
      work.then(() => true),
      sleep(ms, false, { signal: late.signal, ref: true }).catch(() => false),
    ]);
  } finally {
    late.abort();
  }
}
