import 'reflect-metadata';
import { runService, volumeCheck } from '@quicksilver/app-kit';
import { Volume } from '@quicksilver/mirror';
import { closerService } from './closer-service.ts';
import { CloserConfig } from './config.ts';

const engine = new URL('./engine.js', import.meta.url);
const volumeReady = volumeCheck((path) => Volume.open(path));

await runService('closer', CloserConfig, ({ config, logger, engineEnv }) => ({
  module: closerService({ config, logger, engineEnv, engine, volumeReady }),
  port: config.QUICKSILVER_HEALTH_PORT,
}));
