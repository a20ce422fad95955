import type { IncomingMessage } from 'node:http';

/*
 * RFC 9110, sections 8.8 (validators), 13.1.5 (If-Range), 14 (ranges).
 */

/** What an If-Range may hold: proves that two answers are parts of the same bytes. */
export interface Validator {
  readonly kind: 'etag' | 'last-modified';
  readonly value: string;
}

export interface ContentRange {
  readonly start: number;
  /** Last byte, inclusive. */
  readonly end: number;
  /** Undefined where the server does not say. */
  readonly total: number | undefined;
}

/** A strong ETag; else a modification time that lies at least a second before the answer's own. */
export function validatorOf({ headers }: IncomingMessage): Validator | undefined {
  const { etag, 'last-modified': modified, date } = headers;
  if (etag !== undefined && /^"[\x21\x23-\x7e\x80-\xff]*"$/.test(etag)) return { kind: 'etag', value: etag };
  if (modified === undefined || date === undefined) return undefined;
  const age = Date.parse(date) - Date.parse(modified);
  return age >= 1000 ? { kind: 'last-modified', value: modified } : undefined;
}

/** False only when the answer names a validator of the same kind that differs. */
export function agrees({ headers }: IncomingMessage, validator: Validator): boolean {
  const named = validator.kind === 'etag' ? headers.etag : headers['last-modified'];
  return named === undefined || named === validator.value;
}

export function contentRange(header: string | undefined): ContentRange | undefined {
  const match = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/i.exec(header?.trim() ?? '');
  if (!match) return undefined;
  const [start, end] = [Number(match[1]), Number(match[2])];
  const total = match[3] === '*' ? undefined : Number(match[3]);
  return start <= end && (total === undefined || end < total) ? { start, end, total } : undefined;
}

/** The size that a 416 names. */
export function unsatisfiedSize(header: string | undefined): number | undefined {
  const match = /^bytes \*\/(\d{1,15})$/i.exec(header?.trim() ?? '');
  return match ? Number(match[1]) : undefined;
}

export function contentLength({ headers }: IncomingMessage): number | undefined {
  const text = headers['content-length'];
  return text !== undefined && /^\d{1,16}$/.test(text) ? Number(text) : undefined;
}
