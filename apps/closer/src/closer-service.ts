import type { DynamicModule } from '@nestjs/common';
import {
  EngineSlots,
  type HealthResult,
  JobServiceModule,
  type Logger,
  type VolumeSetting,
  volumeAccess,
} from '@quicksilver/app-kit';
import { WORKER_SETTINGS } from '@quicksilver/jobs';
import { CloseHandler } from './close-handler.ts';
import type { CloserConfig } from './config.ts';
import { Outcomes } from './outcomes.ts';
import { VolumeKeeper } from './volume-keeper.ts';

export interface CloserOptions {
  readonly config: CloserConfig;
  readonly logger: Logger;
  /** Environment of the engine processes. */
  readonly engineEnv: NodeJS.ProcessEnv;
  readonly engine: URL;
  /** Whether a volume can be used here. */
  readonly volumeReady: (volume: VolumeSetting) => Promise<HealthResult>;
}

/** Settles tasks of the configured volumes: close jobs, cancels, and the janitor. */
export function closerService({ config, logger, engineEnv, engine, volumeReady }: CloserOptions): DynamicModule {
  const concurrency = config.QUICKSILVER_CONCURRENCY ?? WORKER_SETTINGS.close.concurrency;
  return JobServiceModule.forRoot('closer', {
    kind: 'close',
    redisUrl: config.REDIS_URL,
    policyOverride: config.QUICKSILVER_REDIS_POLICY_OVERRIDE,
    volumes: config.QUICKSILVER_VOLUMES,
    settings: {
      ...WORKER_SETTINGS.close,
      concurrency,
      lockDuration: config.QUICKSILVER_LOCK_DURATION,
      stalledInterval: config.QUICKSILVER_STALLED_INTERVAL,
    },
    grace: config.QUICKSILVER_GRACE,
    logger,
    work: (volume, redis) => {
      const outcomes = new Outcomes(redis);
      const slots = new EngineSlots({ entry: engine, size: concurrency, logger, env: engineEnv });
      const keeper = new VolumeKeeper({ volume, config, logger, outcomes, engine, engineEnv });
      return {
        handler: new CloseHandler({
          slots,
          outcomes,
          volume: volume.path,
          access: volumeAccess(config),
          lockDuration: config.QUICKSILVER_LOCK_DURATION,
        }),
        resize: (size) => slots.resize(size),
        ready: () => volumeReady(volume),
        begin: () => {
          slots.warm();
          keeper.start();
        },
        onCancel: (signal) => keeper.cancel(signal),
        close: async () => {
          await Promise.all([slots.close(), keeper.close()]);
        },
      };
    },
  });
}
