import 'reflect-metadata';
import { runService, volumeCheck } from '@quicksilver/app-kit';
import { Volume } from '@quicksilver/mirror';
import { WriterConfig } from './config.ts';
import { writerService } from './writer-service.ts';

const engine = new URL('./engine.js', import.meta.url);
const volumeReady = volumeCheck((path) => Volume.open(path));

await runService('writer', WriterConfig, ({ config, logger, engineEnv }) => ({
  module: writerService({ config, logger, engineEnv, engine, volumeReady }),
  port: config.QUICKSILVER_HEALTH_PORT,
}));
