import { type EngineSlots, type JobContext, type JobHandler, volumeAccess } from '@quicksilver/app-kit';
import { CloneData, CloneResult } from '@quicksilver/jobs';
import type { CloneWork } from './clone-work.ts';
import type { WriterConfig } from './config.ts';

/** Bytes of the source to a sealed staging directory, in an engine process. */
export class CloneHandler implements JobHandler<CloneData, CloneResult> {
  readonly schema = CloneData;
  readonly firstStage = 'plan';
  /** `close` settles the task, cancelled or not: there is nothing left to do here. */
  readonly cancelEnds = true;
  readonly #slots: EngineSlots;
  readonly #volume: string;
  readonly #config: WriterConfig;

  constructor(slots: EngineSlots, volume: string, config: WriterConfig) {
    this.#slots = slots;
    this.#volume = volume;
    this.#config = config;
  }

  async run(job: CloneData, ctx: JobContext): Promise<CloneResult> {
    const signal = AbortSignal.any([ctx.signal, ctx.cancelSignal]);
    const request = { method: 'clone', params: this.#work(job) };
    const written = await this.#slots.run(request, { signal, onProgress: ctx.onProgress });
    return CloneResult.parse({ v: 1, ...Object(written) });
  }

  /** What the request asks for goes before what this host is configured with. */
  #work(job: CloneData): CloneWork {
    const config = this.#config;
    const { settings } = job;
    return {
      volume: this.#volume,
      access: volumeAccess(config),
      job,
      sourceRoots: config.QUICKSILVER_SOURCE_ROOTS,
      allowPrivateSources: config.QUICKSILVER_ALLOW_PRIVATE_SOURCES,
      maxDownload: config.QUICKSILVER_MAX_DOWNLOAD,
      lockDuration: config.QUICKSILVER_LOCK_DURATION,
      settings: {
        writers: settings.writers ?? config.QUICKSILVER_WRITERS,
        memoryTarget: settings.memoryTarget ?? config.QUICKSILVER_MEMORY_TARGET,
        backgroundClose: settings.backgroundClose ?? config.QUICKSILVER_BACKGROUND_CLOSE,
        backgroundCloseMinFileCount:
          settings.backgroundCloseMinFileCount ?? config.QUICKSILVER_BACKGROUND_CLOSE_MIN_FILE_COUNT,
        backgroundCloseMaxQueue: settings.backgroundCloseMaxQueue ?? config.QUICKSILVER_BACKGROUND_CLOSE_MAX_QUEUE,
        backgroundCloseThreadCount:
          settings.backgroundCloseThreadCount ?? config.QUICKSILVER_BACKGROUND_CLOSE_THREAD_COUNT,
      },
    };
  }
}
