import { setTimeout as sleep } from 'node:timers/promises';
import { EngineSlots, type Logger, volumeAccess } from '@quicksilver/app-kit';
import type { CancelSignal } from '@quicksilver/jobs';
import type { CancelWork, JanitorWork, SweepWork } from './close-work.ts';
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

/** One for the janitor, one for sweeping up after cancels, and one for the cancels themselves, which are brief. */
const KEEPER_SLOTS = 3;

/**
 * What a closer does for its volume outside the queue: cancels, which must not wait behind jobs, and the janitor. Both
 * run in engine processes of their own, so that full slots delay neither.
 */
export class VolumeKeeper {
  readonly #options: VolumeKeeperOptions;
  readonly #slots: EngineSlots;
  readonly #stop = new AbortController();
  #janitor: Promise<void> | undefined;
  #sweeping: Promise<void> | undefined;
  #unswept = false;

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
    this.#sweep();
    await (told ?? outcomes.tell(task.id, settled));
    logger.info({ task: task.id, mirror: mirror.name }, 'cancel settled');
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all([this.#janitor, this.#sweeping]);
    await this.#slots.close();
  }

  /** Apart from cancelling: removing a big directory takes seconds, and the next cancel must not wait for that. */
  #sweep(): void {
    this.#unswept = true;
    this.#sweeping ??= this.#sweepUntilClean();
  }

  async #sweepUntilClean(): Promise<void> {
    const { config, logger, volume } = this.#options;
    const { signal } = this.#stop;
    const params: SweepWork = { volume: volume.path, access: volumeAccess(config) };
    while (this.#unswept && !signal.aborted) {
      this.#unswept = false;
      await this.#slots.run({ method: 'sweep', params }, { signal }).catch((err: unknown) => {
        // The janitor comes to it later.
        if (!signal.aborted) logger.warn({ volume: volume.name, err }, 'sweeping failed');
      });
    }
    this.#sweeping = undefined;
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
