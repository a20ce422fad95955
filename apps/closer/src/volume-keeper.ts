import { setTimeout as sleep } from 'node:timers/promises';
import { EngineSlots, type Logger, volumeAccess } from '@quicksilver/app-kit';
import type { CancelSignal } from '@quicksilver/jobs';
import type { CancelWork, JanitorWork } from './close-work.ts';
import type { CloserConfig } from './config.ts';
import type { Outcomes } from './outcomes.ts';

export interface VolumeKeeperOptions {
  readonly volume: { readonly name: string; readonly path: string };
  readonly config: CloserConfig;
  readonly logger: Logger;
  readonly outcomes: Outcomes;
  readonly engine: URL;
  readonly engineEnv: NodeJS.ProcessEnv;
}

/** Enough for one janitor and the cancels beside it. */
const KEEPER_SLOTS = 2;

/**
 * What a closer does for its volume outside the queue: cancels, which must not wait behind jobs, and the janitor. Both
 * run in engine processes of their own, so that full slots delay neither.
 */
export class VolumeKeeper {
  readonly #options: VolumeKeeperOptions;
  readonly #slots: EngineSlots;
  readonly #stop = new AbortController();
  #janitor: Promise<void> | undefined;

  constructor(options: VolumeKeeperOptions) {
    this.#options = options;
    const { engine, engineEnv, logger } = options;
    this.#slots = new EngineSlots({ entry: engine, env: engineEnv, size: KEEPER_SLOTS, logger });
  }

  /** Once the volume is there. */
  start(): void {
    // A cancel is to be settled within two seconds: the start of a process would take a good part of them.
    this.#slots.warm();
    this.#janitor ??= this.#rounds();
  }

  /** Ends a task whose job may be waiting, running anywhere, or lost. */
  async cancel({ task, mirror }: CancelSignal): Promise<void> {
    const { outcomes, logger, volume, config } = this.#options;
    const params: CancelWork = {
      volume: volume.path,
      access: volumeAccess(config),
      lockDuration: config.QUICKSILVER_LOCK_DURATION,
      task,
      mirror,
    };
    let told: Promise<unknown> | undefined;
    const settled = await this.#slots.run(
      { method: 'cancel', params },
      {
        signal: this.#stop.signal,
        onEvent: (value) => {
          told ??= outcomes.tell(task.id, value);
          told.catch(() => {});
        },
      },
    );
    await (told ?? outcomes.tell(task.id, settled));
    logger.info({ task: task.id, mirror: mirror.name }, 'cancel settled');
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#janitor;
    await this.#slots.close();
  }

  /** One round after another, never two at once. */
  async #rounds(): Promise<void> {
    const { config, logger, volume } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await sleep(config.QUICKSILVER_JANITOR_INTERVAL, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      try {
        const params: JanitorWork = {
          volume: volume.path,
          access: volumeAccess(config),
          graceMs: config.QUICKSILVER_TRASH_GRACE,
        };
        const report = await this.#slots.run({ method: 'janitor', params }, { signal });
        logger.info({ volume: volume.name, report }, 'janitor done');
      } catch (err) {
        if (!signal.aborted) logger.warn({ volume: volume.name, err }, 'janitor failed');
      }
    }
  }
}
