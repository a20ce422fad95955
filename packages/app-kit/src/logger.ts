import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger };

/** JSON lines on stdout: `level` in words, ISO time, service name, pid. */
export function createLogger(name: string, level = 'info', destination?: DestinationStream): Logger {
  const options = {
    level,
    base: { service: name, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    // A last wall: credentials have no business in a log line, whoever passes an options object to it.
    // An error of a Redis client holds the command that was refused, which may be the one that logs in.
    redact: ['password', '*.password', 'authorization', '*.authorization', '*.*.authorization', '*.command.args'],
  };
  return destination ? pino(options, destination) : pino(options);
}

/** An address fit for logs: without user info, query and fragment. Anything unreadable becomes a fixed word. */
export function loggableUrl(address: string): string {
  if (!URL.canParse(address)) return address.startsWith('/') ? address : '(unreadable address)';
  const url = new URL(address);
  url.username = '';
  url.password = '';
  url.search = '';
  url.hash = '';
  return url.href;
}

/** Nest's own messages through the same stream. Routine ones go to `debug`: a service's log is about its work. */
export class NestLogger implements LoggerService {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  log(message: unknown, ...rest: unknown[]): void {
    this.#write('debug', message, rest);
  }
  verbose(message: unknown, ...rest: unknown[]): void {
    this.#write('trace', message, rest);
  }
  debug(message: unknown, ...rest: unknown[]): void {
    this.#write('debug', message, rest);
  }
  warn(message: unknown, ...rest: unknown[]): void {
    this.#write('warn', message, rest);
  }
  error(message: unknown, ...rest: unknown[]): void {
    this.#write('error', message, rest);
  }
  fatal(message: unknown, ...rest: unknown[]): void {
    this.#write('fatal', message, rest);
  }

  #write(level: 'fatal' | 'error' | 'warn' | 'debug' | 'trace', message: unknown, rest: unknown[]): void {
    // Nest passes the context last, and for errors the stack before it.
    const context = rest.length > 0 ? rest.at(-1) : undefined;
    const facts = rest.length > 1 ? { context, detail: rest.slice(0, -1) } : { context };
    if (message instanceof Error) this.#logger[level]({ ...facts, err: message }, message.message);
    else this.#logger[level](facts, typeof message === 'string' ? message : JSON.stringify(message));
  }
}
