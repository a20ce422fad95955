import 'reflect-metadata';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { ConfigError, createLogger, loadConfig, startService } from '@quicksilver/app-kit';
import { ApiModule } from './api.module.ts';
import { ApiConfig } from './config.ts';
import { configureApp } from './configure-app.ts';
import { startControlPlane } from './control-plane.ts';

/** As in sysexits: the configuration is at fault, starting again will not help. */
const EXIT_CONFIG = 78;

async function start(): Promise<void> {
  const config = loadConfig(ApiConfig);
  const logger = createLogger('api', config.QUICKSILVER_LOG_LEVEL);
  mkdirSync(dirname(config.QUICKSILVER_DATABASE), { recursive: true });
  const plane = await startControlPlane(config, logger);
  await startService(ApiModule.forPlane(plane), {
    logger,
    bind: config.QUICKSILVER_BIND,
    port: config.QUICKSILVER_PORT,
    grace: config.QUICKSILVER_GRACE,
    configure: (app) => configureApp(app, logger),
  });
}

try {
  await start();
} catch (err) {
  const logger = createLogger('api');
  if (err instanceof ConfigError) logger.fatal({ settings: err.settings }, err.message);
  else logger.fatal({ err }, 'cannot start');
  process.exit(err instanceof ConfigError ? EXIT_CONFIG : 1);
}
