import { type JobKind, QUEUE_PREFIX, queueName, type WorkerSettings } from '@quicksilver/jobs';
import { type Processor, Queue, Worker, type WorkerOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import type { HealthResult } from '../health/health-registry.ts';
import type { RedisConnection } from '../redis/redis.ts';
import type { ActiveJob, StopReason } from './active-job.ts';

export interface QueueConsumerOptions {
  readonly kind: JobKind;
  readonly volume: string;
  readonly settings: WorkerSettings;
  /** For the BullMQ worker: waits for Redis. */
  readonly connection: RedisConnection;
  /** For looking at the queue: fails fast. */
  readonly commands: Redis;
  readonly logger: Logger;
  readonly onRenewed?: () => void;
  readonly watch?: ConsumerWatch | undefined;
}

export interface ConsumerWatch {
  /** Jobs wait, slots are free and nothing is taken for so long: the worker is made anew. */
  readonly stuckAfterMs?: number;
  readonly lookEveryMs?: number;
  readonly newWorker?: NewWorker;
}

type NewWorker = (queue: string, processor: Processor<unknown, unknown>, options: WorkerOptions) => Worker;

const STUCK_AFTER_MS = 20_000;
const LOOK_EVERY_MS = 2000;
/** BullMQ waits so long after a broken connection before it asks for jobs again (its own default is 15 s). */
const RUN_RETRY_DELAY_MS = 1000;

/**
 * A BullMQ worker for one queue, and the watch over it.
 *
 *   look (every 2 s): waiting > 0, slots free, not paused, nothing taken since -> stuck clock runs
 *   stuck for 20 s -> health red, worker made anew (the old one finishes what it has, locks renewed)
 *   a job is taken -> green
 *
 * A worker that lost its connection in a bad moment may look alive and never take a job again; only consumption itself
 * proves that it consumes.
 */
export class QueueConsumer {
  readonly queue: string;
  readonly kind: JobKind;
  readonly volume: string;
  readonly #options: QueueConsumerOptions;
  readonly #processor: Processor<unknown, unknown>;
  readonly #queue: Queue;
  readonly #active = new Set<ActiveJob>();
  readonly #workers = new Set<Worker>();
  readonly #timer: NodeJS.Timeout;
  #worker: Worker;
  #concurrency: number;
  #takenAt = 0;
  #stuckSince: number | undefined;
  #stuck = false;
  #looking = false;
  #closing = false;
  #stopReason: StopReason | undefined;

  constructor(
    options: QueueConsumerOptions,
    makeProcessor: (track: (job: ActiveJob) => () => void) => Processor<unknown, unknown>,
  ) {
    this.#options = options;
    this.kind = options.kind;
    this.volume = options.volume;
    this.queue = queueName(options.kind, options.volume);
    this.#concurrency = options.settings.concurrency;
    this.#processor = makeProcessor((job) => {
      this.#active.add(job);
      // Fetched before the end, come through after it.
      if (this.#stopReason) job.stop(this.#stopReason);
      return () => this.#active.delete(job);
    });
    this.#queue = new Queue(this.queue, {
      connection: options.commands,
      prefix: QUEUE_PREFIX,
      // The API owns the queue's settings; this object only looks.
      skipMetasUpdate: true,
    });
    this.#queue.on('error', () => {});
    this.#worker = this.#makeWorker();
    this.#timer = setInterval(() => void this.#look(), options.watch?.lookEveryMs ?? LOOK_EVERY_MS);
  }

  get active(): ReadonlySet<ActiveJob> {
    return this.#active;
  }

  get concurrency(): number {
    return this.#concurrency;
  }

  /** Live, also while all slots are busy with long jobs. */
  async setConcurrency(concurrency: number): Promise<void> {
    if (concurrency === this.#concurrency || this.#closing) return;
    const more = concurrency > this.#concurrency;
    this.#concurrency = concurrency;
    this.#worker.concurrency = concurrency;
    this.#options.logger.info({ queue: this.queue, concurrency }, 'concurrency changed');
    if (!more) return;
    // The worker's loop asks for jobs only when one of its own ends: pausing and resuming wakes it now.
    await this.#worker.pause(true);
    await this.#worker.resume();
  }

  health(): HealthResult {
    if (!this.#stuck) return { ok: true };
    return { ok: false, reason: `jobs wait in ${this.queue}, slots are free, and none is taken` };
  }

  /** Takes no more jobs; resolves when the running ones have ended and the connections are closed. */
  async close(): Promise<void> {
    this.#closing = true;
    clearInterval(this.#timer);
    await Promise.all([...this.#workers].map((worker) => worker.close()));
    await this.#queue.close();
  }

  /** Makes every running job let go, and those that are still on their way from Redis. For good. */
  stopJobs(reason: StopReason): void {
    this.#stopReason = reason;
    for (const job of this.#active) job.stop(reason);
  }

  #makeWorker(): Worker {
    const { settings, connection, logger, watch } = this.#options;
    const newWorker = watch?.newWorker ?? ((queue, processor, options) => new Worker(queue, processor, options));
    const worker = newWorker(this.queue, this.#processor, {
      connection,
      prefix: QUEUE_PREFIX,
      concurrency: this.#concurrency,
      lockDuration: settings.lockDuration,
      stalledInterval: settings.stalledInterval,
      maxStalledCount: settings.maxStalledCount,
      runRetryDelay: RUN_RETRY_DELAY_MS,
    });
    worker.on('error', (err) => logger.warn({ queue: this.queue, reason: err.message }, 'queue error'));
    worker.on('active', () => {
      this.#takenAt = Date.now();
      this.#stuck = false;
    });
    // BullMQ only reports a lost lock; stopping the job is our duty.
    worker.on('lockRenewalFailed', (ids) => {
      logger.warn({ queue: this.queue, jobs: ids }, 'job locks lost');
      for (const id of ids) worker.cancelJob(id, 'lock lost');
    });
    worker.on('stalled', (id) => logger.warn({ queue: this.queue, job: id }, 'stalled job put back'));
    worker.on('closed', () => this.#workers.delete(worker));
    this.#workers.add(worker);
    return worker;
  }

  async #look(): Promise<void> {
    if (this.#looking || this.#closing) return;
    this.#looking = true;
    try {
      const idle = await this.#shouldTake();
      const now = Date.now();
      if (!idle) {
        this.#stuckSince = undefined;
        this.#stuck = false;
      } else if (this.#stuckSince === undefined || this.#takenAt > this.#stuckSince) {
        this.#stuckSince = now;
      } else if (now - this.#stuckSince >= (this.#options.watch?.stuckAfterMs ?? STUCK_AFTER_MS)) {
        this.#renew(now);
      }
    } catch {
      // Redis does not answer, which its own check says; the clock starts when it is back.
      this.#stuckSince = undefined;
    } finally {
      this.#looking = false;
    }
  }

  /** True when a worker in order would take a job now. */
  async #shouldTake(): Promise<boolean> {
    const { waiting = 0, active = 0 } = await this.#queue.getJobCounts('waiting', 'active');
    if (waiting === 0 || this.#active.size >= this.#concurrency) return false;
    if (await this.#queue.isPaused()) return false;
    const overall = await this.#queue.getGlobalConcurrency();
    return overall === null || active < overall;
  }

  #renew(now: number): void {
    if (this.#closing) return;
    const { logger, onRenewed } = this.#options;
    logger.error({ queue: this.queue }, 'nothing is taken although jobs wait: the worker is made anew');
    this.#stuck = true;
    this.#stuckSince = now;
    const old = this.#worker;
    this.#worker = this.#makeWorker();
    // With jobs under way it goes on renewing their locks until they end; without, it is not waited for.
    old
      .close(this.#active.size === 0)
      .catch((err: unknown) => logger.warn({ queue: this.queue, err }, 'old worker did not close'));
    onRenewed?.();
  }
}
