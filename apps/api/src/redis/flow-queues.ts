import { EVENT_STREAM_MAX, JOB_KINDS, type JobKind, QUEUE_PREFIX, queueName, type TaskFlow } from '@quicksilver/jobs';
import { FlowProducer, type Job, Queue } from 'bullmq';
import { GLANCE_MS, type RedisLink, RedisUnavailable } from './redis-link.ts';

/** How the `close` job of a flow stands. `open` covers waiting, running, delayed, and waiting for its child. */
export type CloseState =
  | { readonly kind: 'missing' }
  | { readonly kind: 'open' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'completed'; readonly value: unknown };

export interface QueueDepth {
  readonly queue: string;
  readonly state: string;
  readonly count: number;
}

export interface QueueMeta {
  readonly global: number | null;
  readonly maxLenEvents: number | undefined;
}

/** What the control plane asks of BullMQ. Everything throws RedisUnavailable while Redis is away. */
export interface FlowQueues {
  add(flow: TaskFlow): Promise<void>;
  closeState(volume: string, jobId: string): Promise<CloseState>;
  /** Progress as last reported by the job that is further on; undefined when there is none. */
  progress(volume: string, jobId: string): Promise<unknown>;
}

/** Adds flows and looks at jobs. Never retries or removes a job: what is lost gets a new flow. */
export class BullFlowQueues implements FlowQueues, AsyncDisposable {
  readonly #link: RedisLink;
  readonly #queues = new Map<string, Queue>();
  #producer: FlowProducer | undefined;

  constructor(link: RedisLink) {
    this.#link = link;
  }

  async add(flow: TaskFlow): Promise<void> {
    await this.#link.use(async () => {
      this.#queue(flow.queueName);
      for (const child of flow.children ?? []) this.#queue(child.queueName);
      const job = await this.#flows().add(asFlowJob(flow));
      // BullMQ gives undefined, without a word, while it is closing.
      if (!job) throw new RedisUnavailable('the queue is closing');
    });
  }

  async closeState(volume: string, jobId: string): Promise<CloseState> {
    return this.#link.use(async () => {
      const queue = this.#queue(queueName('close', volume));
      const state = await queue.getJobState(jobId);
      switch (state) {
        case 'unknown':
          return { kind: 'missing' };
        case 'completed': {
          const job = await readJob(queue, jobId);
          return job ? { kind: 'completed', value: job.returnvalue } : { kind: 'missing' };
        }
        case 'failed': {
          const job = await readJob(queue, jobId);
          return job ? { kind: 'failed', reason: job.failedReason ?? 'unknown' } : { kind: 'missing' };
        }
        case 'waiting-children':
          // With its child gone it would wait for ever: that counts as missing.
          return (await this.#childExists(queue, volume, jobId)) ? { kind: 'open' } : { kind: 'missing' };
        case 'active':
        case 'delayed':
        case 'prioritized':
        case 'waiting':
          return { kind: 'open' };
      }
    });
  }

  async progress(volume: string, jobId: string): Promise<unknown> {
    return this.#link.use(async () => {
      for (const kind of ['close', 'clone'] as const) {
        const job = await readJob(this.#queue(queueName(kind, volume)), jobId);
        // BullMQ's default is the number 0.
        if (typeof job?.progress === 'object') return job.progress;
      }
      return undefined;
    }, GLANCE_MS);
  }

  async depths(volumes: readonly string[]): Promise<QueueDepth[]> {
    return this.#link.use(async () => {
      const names = volumes.flatMap((volume) => JOB_KINDS.map((kind) => queueName(kind, volume)));
      const found = await Promise.all(
        names.map(async (name) => {
          const counts = await this.#queue(name).getJobCounts(
            'waiting',
            'active',
            'delayed',
            'waiting-children',
            'failed',
          );
          return Object.entries(counts).map(([state, count]) => ({ queue: name, state, count }));
        }),
      );
      return found.flat();
    }, GLANCE_MS);
  }

  async meta(name: string): Promise<QueueMeta> {
    return this.#link.use(async () => {
      const meta = await this.#queue(name).getMeta();
      return { global: meta.concurrency ?? null, maxLenEvents: meta.maxLenEvents };
    });
  }

  async setGlobalConcurrency(name: string, limit: number | null): Promise<void> {
    await this.#link.use(async () => {
      const queue = this.#queue(name);
      if (limit === null) await queue.removeGlobalConcurrency();
      else await queue.setGlobalConcurrency(limit);
    });
  }

  /**
   * The bound of a queue's event stream is a field in Redis that a Queue object writes when it is made. A wiped server
   * has lost it, and would let streams grow to BullMQ's own default.
   */
  async boundEvents(name: string): Promise<void> {
    const { maxLenEvents } = await this.meta(name);
    if (maxLenEvents === EVENT_STREAM_MAX) return;
    const stale = this.#queues.get(name);
    this.#queues.delete(name);
    await stale?.close().catch(() => {});
    await this.#link.use(async () => this.#queue(name).getVersion());
  }

  async #childExists(close: Queue, volume: string, jobId: string): Promise<boolean> {
    if ((await this.#queue(queueName('clone', volume)).getJobState(jobId)) !== 'unknown') return true;
    return (await close.getJobState(jobId)) !== 'waiting-children';
  }

  #flows(): FlowProducer {
    if (this.#producer) return this.#producer;
    const producer = new FlowProducer(this.#options());
    producer.on('error', ignore);
    this.#producer = producer;
    return producer;
  }

  #queue(name: string): Queue {
    const known = this.#queues.get(name);
    if (known) return known;
    const queue = new Queue(name, { ...this.#options(), streams: { events: { maxLen: EVENT_STREAM_MAX } } });
    queue.on('error', ignore);
    this.#queues.set(name, queue);
    return queue;
  }

  #options() {
    // Without the version check there is no command between "connected" and "ready" whose failure, when Redis dies in
    // that moment, would leave the object dead for good.
    return { connection: this.#link.commands, prefix: QUEUE_PREFIX, skipVersionCheck: true };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const open = [...this.#queues.values(), ...(this.#producer ? [this.#producer] : [])];
    this.#queues.clear();
    this.#producer = undefined;
    await Promise.allSettled(open.map((each) => each.close()));
  }
}

export function everyQueue(volumes: readonly string[], kinds: readonly JobKind[] = JOB_KINDS): string[] {
  return volumes.flatMap((volume) => kinds.map((kind) => queueName(kind, volume)));
}

function asFlowJob(flow: TaskFlow): Parameters<FlowProducer['add']>[0] {
  return { ...flow, opts: { ...flow.opts }, children: flow.children?.map(asFlowJob) };
}

async function readJob(queue: Queue, jobId: string): Promise<Job | undefined> {
  return (await queue.getJob(jobId)) ?? undefined;
}

/** Errors of the shared connection are reported by whoever made it; unheard ones would end the process. */
function ignore(): void {}
