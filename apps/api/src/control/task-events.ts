import { PROGRESS_INTERVAL, Progress, parsePayload } from '@quicksilver/jobs';

/** What listeners of one task hear. State is read again by whoever cares, so that nobody acts on an old copy. */
export type TaskNotice = { readonly kind: 'state' } | { readonly kind: 'progress'; readonly progress: Progress };
export type TaskListener = (notice: TaskNotice) => void;

interface Channel {
  readonly listeners: Set<TaskListener>;
  lastSent: number;
  lastStage: Progress['stage'] | undefined;
  pending: Progress | undefined;
  timer: NodeJS.Timeout | undefined;
}

/** Tasks whose last progress is remembered at once; far above what is admitted at any time. */
const REMEMBERED = 10_000;

/**
 * Spreads state changes and progress to listeners in this process. State and a change of stage at once; progress at
 * most once per interval and task, the latest wins. Memory is bounded by the number of listeners and by REMEMBERED.
 */
export class TaskEvents implements Disposable {
  readonly #interval: number;
  readonly #channels = new Map<string, Channel>();
  readonly #progress = new Map<string, Progress>();

  constructor(interval: number = PROGRESS_INTERVAL) {
    this.#interval = interval;
  }

  subscribe(taskId: string, listener: TaskListener): () => void {
    const channel = this.#channels.get(taskId) ?? {
      listeners: new Set(),
      lastSent: 0,
      lastStage: undefined,
      pending: undefined,
      timer: undefined,
    };
    this.#channels.set(taskId, channel);
    channel.listeners.add(listener);
    return () => {
      channel.listeners.delete(listener);
      if (channel.listeners.size > 0 || this.#channels.get(taskId) !== channel) return;
      clearTimeout(channel.timer);
      this.#channels.delete(taskId);
    };
  }

  /** From the queues: anything that is not a progress record of a known version is dropped. */
  progress(data: unknown): void {
    const parsed = parsePayload(Progress, data);
    if (parsed.kind !== 'ok') return;
    const progress = parsed.data;
    this.#remember(progress);
    const channel = this.#channels.get(progress.taskId);
    if (!channel) return;
    channel.pending = progress;
    const wait = progress.stage === channel.lastStage ? channel.lastSent + this.#interval - Date.now() : 0;
    if (channel.timer && wait > 0) return;
    clearTimeout(channel.timer);
    if (wait <= 0) this.#send(channel);
    else channel.timer = setTimeout(() => this.#send(channel), wait);
  }

  state(taskId: string): void {
    for (const listener of this.#channels.get(taskId)?.listeners ?? []) listener({ kind: 'state' });
  }

  last(taskId: string): Progress | undefined {
    return this.#progress.get(taskId);
  }

  /** Forgets a settled task and tells its listeners. */
  settled(taskId: string): void {
    this.#progress.delete(taskId);
    const channel = this.#channels.get(taskId);
    if (channel) {
      clearTimeout(channel.timer);
      channel.timer = undefined;
      channel.pending = undefined;
    }
    this.state(taskId);
  }

  #remember(progress: Progress): void {
    this.#progress.delete(progress.taskId);
    this.#progress.set(progress.taskId, progress);
    if (this.#progress.size <= REMEMBERED) return;
    const [oldest] = this.#progress.keys();
    if (oldest !== undefined) this.#progress.delete(oldest);
  }

  #send(channel: Channel): void {
    channel.timer = undefined;
    const progress = channel.pending;
    channel.pending = undefined;
    if (!progress) return;
    channel.lastSent = Date.now();
    channel.lastStage = progress.stage;
    for (const listener of channel.listeners) listener({ kind: 'progress', progress });
  }

  [Symbol.dispose](): void {
    for (const channel of this.#channels.values()) clearTimeout(channel.timer);
    this.#channels.clear();
  }
}
