import 'reflect-metadata';
import { runService } from '@quicksilver/app-kit';
import { WriterConfig } from '../../src/config.ts';
import { writerService } from '../../src/writer-service.ts';

/** The writer as a process of its own, over the fake engine. */
const engine = new URL('./fake-engine.ts', import.meta.url);

await runService('writer', WriterConfig, ({ config, logger, engineEnv }) => ({
  module: writerService({ config, logger, engineEnv, engine, volumeReady: async () => ({ ok: true }) }),
  port: config.QUICKSILVER_HEALTH_PORT,
}));
