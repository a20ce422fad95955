import type { AddressInfo } from 'node:net';
import type { INestApplication, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Logger } from 'pino';
import { NestLogger } from '../logger.ts';
import { installShutdown } from './shutdown.ts';

export interface ServiceOptions {
  readonly logger: Logger;
  readonly bind: string;
  /** 0: any free port, told in the `listening` line. */
  readonly port: number;
  /** Milliseconds for draining; then the process ends anyhow. */
  readonly grace: number;
  /** Pipes, filters, documents: before listening. */
  readonly configure?: (app: INestApplication) => void | Promise<void>;
}

export interface RunningService {
  readonly app: INestApplication;
  readonly url: string;
}

/** Makes the Nest app, listens, says `listening` with url and port in one log line, and drains on SIGTERM and SIGINT. */
export async function startService(module: Type | object, options: ServiceOptions): Promise<RunningService> {
  const { logger, bind, port, grace, configure } = options;
  const express = await NestFactory.create<NestExpressApplication>(module, {
    logger: new NestLogger(logger),
    abortOnError: false,
    forceCloseConnections: true,
  });
  express.disable('x-powered-by'); // what it runs on is nobody's business
  const app: INestApplication = express;
  // Before listening: a stop signal during start-up drains too.
  installShutdown({ close: () => app.close(), logger, grace });
  await configure?.(app);
  await app.listen(port, bind);
  const address: AddressInfo = app.getHttpServer().address();
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  const url = `http://${host}:${address.port}`;
  logger.info({ url, port: address.port }, 'listening');
  return { app, url };
}
