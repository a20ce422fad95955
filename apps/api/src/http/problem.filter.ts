import { randomUUID } from 'node:crypto';
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ApiProblem, type ProblemDocument, problemDocument } from '../domain/problem.ts';
import type { Logger } from '../logger.ts';
import { RedisUnavailable } from '../redis/redis-link.ts';

/** Every failure of a request leaves as a problem document (RFC 9457). What is not foreseen is logged, never shown. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  catch(err: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const response = http.getResponse<Response>();
    if (response.headersSent) {
      this.#logger.warn({ err }, 'a request failed after its answer had begun');
      response.destroy();
      return;
    }
    const problem = toProblem(err, http.getRequest<Request>());
    sendProblem(response, problem ?? this.#unforeseen(err), retryAfter(err));
  }

  #unforeseen(err: unknown): ProblemDocument {
    const id = randomUUID();
    this.#logger.error({ err, request: id }, 'a request failed');
    return problemDocument('HG_INTERNAL', `this was not foreseen; the log of the service has it under ${id}`);
  }
}

export function sendProblem(response: Response, problem: ProblemDocument, retryAfterSeconds?: number): void {
  if (retryAfterSeconds !== undefined) response.setHeader('retry-after', String(retryAfterSeconds));
  response.status(problem.status).type('application/problem+json').send(JSON.stringify(problem));
}

function retryAfter(err: unknown): number | undefined {
  if (err instanceof RedisUnavailable) return 5;
  return err instanceof ApiProblem ? err.extras.retryAfter : undefined;
}

function toProblem(err: unknown, request: Request): ProblemDocument | undefined {
  if (err instanceof ApiProblem) return problemDocument(err.code, err.message, err.extras);
  if (err instanceof RedisUnavailable) return problemDocument('API_UNAVAILABLE', 'Redis does not answer');
  if (isDiskFull(err)) {
    const advice = 'Free room on the disk of the database (QUICKSILVER_DATABASE), then ask again.';
    return problemDocument('HG_NO_SPACE', 'the request could not be recorded', { advice });
  }
  switch (statusOf(err) ?? 500) {
    case 400:
      return badRequest(request);
    case 404:
      return problemDocument('API_NO_ROUTE', 'nothing answers to this method and address');
    case 413:
      return problemDocument('API_TOO_LARGE', 'the body is too large');
    case 415:
      return problemDocument('API_MEDIA_TYPE', 'the body cannot be read in this encoding or character set');
    default:
      return undefined;
  }
}

/** SQLITE_FULL of node:sqlite. */
function isDiskFull(err: unknown): boolean {
  return err instanceof Error && 'errcode' in err && err.errcode === 13;
}

/** Parsers of the address and of the body fail alike. */
function badRequest(request: Request): ProblemDocument {
  try {
    decodeURIComponent(request.path);
  } catch {
    const advice = 'Percent-encode each segment of the address, in UTF-8.';
    return problemDocument('HG_USAGE', 'the address is not percent-encoded rightly', { advice });
  }
  return problemDocument('HG_USAGE', 'the body is not valid JSON', { advice: 'Send one JSON document in UTF-8.' });
}

/** Of Nest's exceptions, and of the errors that body parsers pass on. */
function statusOf(err: unknown): number | undefined {
  if (err instanceof HttpException) return err.getStatus();
  const status = typeof err === 'object' && err !== null && 'status' in err ? err.status : undefined;
  return typeof status === 'number' ? status : undefined;
}
