import { PROGRESS_INTERVAL, Progress } from '@quicksilver/jobs';
import { z } from 'zod';

/** What an engine says of its progress. */
export const EngineProgress = z.object({
  stage: Progress.shape.stage,
  files: Progress.shape.files,
  bytes: Progress.shape.bytes,
  note: Progress.shape.note,
});
export type EngineProgress = z.infer<typeof EngineProgress>;

/** Rates are taken over so long: steady enough to read, quick enough to show a stall. */
const RATE_WINDOW_MS = 5000;

export interface ProgressReportOptions {
  readonly taskId: string;
  /** Writes one update to Redis. Never called while an earlier call is under way. */
  readonly write: (progress: Progress) => Promise<unknown>;
  readonly interval?: number;
}

/**
 * Turns an engine's progress into updates of a job: at most one per interval, always the latest, with a rate. The
 * first of each stage does not wait, so that quick work is seen too; there are few stages, and each has one such
 * update. An update that fails is dropped: the next one says more.
 */
export class ProgressReport implements Disposable {
  readonly #options: ProgressReportOptions;
  readonly #interval: number;
  #latest: EngineProgress | undefined;
  #samples: { at: number; bytes: number }[] = [];
  #sampledStage: string | undefined;
  readonly #toldStages = new Set<string>();
  #writing = false;
  #wroteAt = 0;
  #timer: NodeJS.Timeout | undefined;
  /** The timer does not wait for the interval. */
  #prompt = false;
  #disposed = false;

  constructor(options: ProgressReportOptions) {
    this.#options = options;
    this.#interval = options.interval ?? PROGRESS_INTERVAL;
  }

  /** The stage last heard of. */
  get stage(): Progress['stage'] | undefined {
    return this.#latest?.stage;
  }

  /** Takes what an engine said; anything unreadable is ignored. */
  readonly push = (value: unknown): void => {
    const parsed = EngineProgress.safeParse(value);
    if (!parsed.success || this.#disposed) return;
    this.#latest = parsed.data;
    this.#sample(parsed.data);
    this.#plan();
  };

  [Symbol.dispose](): void {
    this.#disposed = true;
    clearTimeout(this.#timer);
  }

  #plan(): void {
    if (this.#writing || this.#disposed) return;
    const isNewStage = this.#latest !== undefined && !this.#toldStages.has(this.#latest.stage);
    if (this.#timer && (!isNewStage || this.#prompt)) return;
    clearTimeout(this.#timer);
    this.#prompt = isNewStage;
    const wait = isNewStage ? 0 : Math.max(0, this.#wroteAt + this.#interval - Date.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#write();
    }, wait);
    this.#timer.unref();
  }

  async #write(): Promise<void> {
    const latest = this.#latest;
    if (!latest) return;
    this.#writing = true;
    this.#wroteAt = Date.now();
    this.#toldStages.add(latest.stage);
    try {
      const at = Date.now();
      await this.#options.write({ v: 1, taskId: this.#options.taskId, ...latest, rate: this.#rate(at), at });
    } catch {
      // Redis is away or the job is gone: what matters of either is told elsewhere.
    } finally {
      this.#writing = false;
      if (this.#latest !== latest) this.#plan();
    }
  }

  #sample({ stage, bytes }: EngineProgress): void {
    const at = Date.now();
    if (stage !== this.#sampledStage) this.#samples = [];
    this.#sampledStage = stage;
    this.#samples.push({ at, bytes: bytes.done });
    while (this.#samples.length > 2 && (this.#samples[0]?.at ?? at) < at - RATE_WINDOW_MS) this.#samples.shift();
  }

  #rate(now: number): number {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    if (!first || !last || first === last || now <= first.at) return 0;
    return Math.max(0, Math.round(((last.bytes - first.bytes) * 1000) / (now - first.at)));
  }
}
