import type { DynamicModule } from '@nestjs/common';
import {
  EngineSlots,
  type HealthResult,
  JobServiceModule,
  type Logger,
  type VolumeSetting,
} from '@quicksilver/app-kit';
import { WORKER_SETTINGS } from '@quicksilver/jobs';
import { CloneHandler } from './clone-handler.ts';
import type { WriterConfig } from './config.ts';

export interface WriterOptions {
  readonly config: WriterConfig;
  readonly logger: Logger;
  /** Environment of the engine processes. */
  readonly engineEnv: NodeJS.ProcessEnv;
  readonly engine: URL;
  /** Whether a volume can be used here. */
  readonly volumeReady: (volume: VolumeSetting) => Promise<HealthResult>;
}

/** Takes clone jobs of the configured volumes. */
export function writerService({ config, logger, engineEnv, engine, volumeReady }: WriterOptions): DynamicModule {
  const concurrency = config.QUICKSILVER_CONCURRENCY ?? WORKER_SETTINGS.clone.concurrency;
  return JobServiceModule.forRoot('writer', {
    kind: 'clone',
    redisUrl: config.REDIS_URL,
    policyOverride: config.QUICKSILVER_REDIS_POLICY_OVERRIDE,
    volumes: config.QUICKSILVER_VOLUMES,
    settings: {
      ...WORKER_SETTINGS.clone,
      concurrency,
      lockDuration: config.QUICKSILVER_LOCK_DURATION,
      stalledInterval: config.QUICKSILVER_STALLED_INTERVAL,
    },
    grace: config.QUICKSILVER_GRACE,
    logger,
    work: (volume) => {
      const slots = new EngineSlots({ entry: engine, size: concurrency, logger, env: engineEnv });
      return {
        handler: new CloneHandler(slots, volume.path, config),
        resize: (size) => slots.resize(size),
        ready: () => volumeReady(volume),
        // The start of a process would be a good part of the first task's time.
        begin: () => slots.warm(),
        close: () => slots.close(),
      };
    },
  });
}
