import type { AddressPolicy, Resolve } from './connect.ts';
import type { Digest } from './digests.ts';
import type { Validator } from './headers.ts';

export interface FetchLimits {
  /** Bytes that a source may have at most. */
  readonly maxBytes: number;
  /** Requests for one download, all attempts and processes together. */
  readonly tries: number;
  /** How many of them in a row may bring nothing new. */
  readonly fruitless: number;
  readonly maxRedirects: number;
  /** Milliseconds for a connection, encryption included. */
  readonly connectMs: number;
  /** Milliseconds without a byte from the server. */
  readonly idleMs: number;
  /** Milliseconds before the second try; doubled with each one that brings nothing, less up to a half by chance. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** The longest time that a source may ask to wait. */
  readonly longestWaitMs: number;
}

export const DEFAULT_LIMITS: FetchLimits = {
  maxBytes: 2 ** 40,
  tries: 100,
  fruitless: 6,
  maxRedirects: 10,
  connectMs: 15_000,
  idleMs: 30_000,
  firstPauseMs: 500,
  longestPauseMs: 30_000,
  longestWaitMs: 300_000,
};

export interface FetchProgress {
  readonly done: number;
  /** Undefined where the server does not say. */
  readonly total: number | undefined;
  /** Why nothing moves at the moment. */
  readonly note?: string | undefined;
}

export interface FetchOptions {
  readonly signal: AbortSignal;
  readonly addressPolicy: AddressPolicy;
  readonly userAgent: string;
  /** Called often; the caller slows it down. */
  readonly onProgress?: ((progress: FetchProgress) => void) | undefined;
  /** All must match. */
  readonly digests?: readonly Digest[] | undefined;
  /** Where the size is known beforehand. */
  readonly size?: number | undefined;
  readonly limits?: Partial<FetchLimits> | undefined;
  /** Certificates that are trusted instead of the usual ones (PEM). */
  readonly ca?: string | undefined;
  /** In place of the system's resolver. */
  readonly resolve?: Resolve | undefined;
}

/** A whole, checked file, and how it came to be. */
export interface Fetched {
  readonly path: string;
  /** User, host and path. */
  readonly url: string;
  readonly size: number;
  readonly sha256: string;
  readonly validator: Validator | undefined;
  readonly tries: number;
  /** Bytes of bodies, over all tries. */
  readonly received: number;
}
