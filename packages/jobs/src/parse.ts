import { z } from 'zod';

/** The outcome of looking at a payload before trusting it. */
export type ParsedPayload<T> =
  | { readonly kind: 'ok'; readonly data: T }
  /** Written by a newer version: hand it back for another worker. */
  | { readonly kind: 'newer'; readonly version: number }
  /** Never to be retried. */
  | { readonly kind: 'malformed'; readonly message: string };

/** Strict parse of a versioned payload; a version above the one known here is told apart from damage. */
export function parsePayload<T>(schema: z.ZodType<T>, payload: unknown, version = 1): ParsedPayload<T> {
  const v = typeof payload === 'object' && payload !== null && 'v' in payload ? payload.v : undefined;
  if (typeof v === 'number' && Number.isInteger(v) && v > version) return { kind: 'newer', version: v };
  const parsed = schema.safeParse(payload);
  if (parsed.success) return { kind: 'ok', data: parsed.data };
  return { kind: 'malformed', message: z.prettifyError(parsed.error) };
}
