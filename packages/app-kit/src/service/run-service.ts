import type { DynamicModule } from '@nestjs/common';
import type { Logger } from 'pino';
import type { z } from 'zod';
import { ConfigError, loadConfig } from '../config/load-config.ts';
import { createLogger } from '../logger.ts';
import { type RunningService, startService } from './start-service.ts';

/** What every service's configuration has. */
interface ServiceConfig {
  readonly QUICKSILVER_BIND: string;
  readonly QUICKSILVER_GRACE: number;
  readonly QUICKSILVER_LOG_LEVEL: string;
}

export interface ServiceParts<T> {
  readonly config: T;
  readonly logger: Logger;
  /** The environment for engine processes: without the addresses of Redis and the database. */
  readonly engineEnv: NodeJS.ProcessEnv;
}

/** As in sysexits: the configuration is at fault, starting again will not help. */
const EXIT_CONFIG = 78;

/** The whole of a data-plane service's main: configuration, logger, Nest app, clean stop. */
export async function runService<T extends ServiceConfig>(
  name: string,
  schema: z.ZodType<T>,
  build: (parts: ServiceParts<T>) => { readonly module: DynamicModule; readonly port: number },
): Promise<RunningService | undefined> {
  const { REDIS_URL: _redis, DATABASE_URL: _database, ...engineEnv } = process.env;
  let logger = createLogger(name);
  try {
    const config = loadConfig(schema);
    logger = createLogger(name, config.QUICKSILVER_LOG_LEVEL);
    const { module, port } = build({ config, logger, engineEnv });
    return await startService(module, { logger, bind: config.QUICKSILVER_BIND, port, grace: config.QUICKSILVER_GRACE });
  } catch (err) {
    if (err instanceof ConfigError) logger.fatal({ settings: err.settings }, err.message);
    else logger.fatal({ err }, 'cannot start');
    process.exit(err instanceof ConfigError ? EXIT_CONFIG : 1);
  }
}
