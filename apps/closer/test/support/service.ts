import 'reflect-metadata';
import { runService } from '@quicksilver/app-kit';
import { closerService } from '../../src/closer-service.ts';
import { CloserConfig } from '../../src/config.ts';

/** The closer as a process of its own, over the fake engine. */
const engine = new URL('./fake-engine.ts', import.meta.url);

await runService('closer', CloserConfig, ({ config, logger, engineEnv }) => ({
  module: closerService({ config, logger, engineEnv, engine, volumeReady: async () => ({ ok: true }) }),
  port: config.QUICKSILVER_HEALTH_PORT,
}));
