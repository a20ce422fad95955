import 'reflect-metadata';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { ConfigError, createLogger, loadConfig, startService } from '@quicksilver/app-kit';
import { ApiModule } from './api.module.ts';
import { ApiConfig } from './config.ts';
import { configureApp } from './configure-app.ts';
import { startControlPlane } from './control-plane.ts';

async function main(): Promise<void> {
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

main().catch((err: unknown) => {
  // Before there is a logger, or when starting failed: one line for people, without a stack.
  const text = err instanceof ConfigError || err instanceof Error ? err.message : String(err);
  process.stderr.write(`api: cannot start: ${text}\n`);
  process.exit(1);
});
