import type { NextFunction, Request, Response } from 'express';
import { type ProblemDocument, problemDocument } from '../domain/problem.ts';
import { sendProblem } from './problem.filter.ts';

const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Keeps web pages of others from using a browser to change things here: a page may send forms and plain text
 * anywhere, but JSON only where it is allowed to, and browsers say when a request comes from another site.
 */
export function refuseForeign(request: Request, response: Response, next: NextFunction): void {
  const problem = READING.has(request.method) ? undefined : refusal(request);
  if (problem) sendProblem(response, problem);
  else next();
}

function refusal(request: Request): ProblemDocument | undefined {
  if (request.headers['sec-fetch-site'] === 'cross-site') {
    const advice = 'Ask from a page of this service, or from a program.';
    return problemDocument('HG_POLICY', 'changes asked for by a page of another site are refused', { advice });
  }
  const type = request.headers['content-type'];
  if (type === undefined || /^application\/json\s*(;|$)/i.test(type)) return undefined;
  return problemDocument('API_MEDIA_TYPE', 'the body is not JSON');
}
