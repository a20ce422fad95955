import { readFile } from 'node:fs/promises';
import type { HgError } from '@quicksilver/hg-types';
import { seededRandom } from '@quicksilver/testing';
import { anyAddress } from '../../src/connect.ts';
import type { Fetched, FetchLimits, FetchOptions } from '../../src/fetch-options.ts';
import { fetchToSpool } from '../../src/fetch-to-spool.ts';
import { parseSourceUrl } from '../../src/source-url.ts';

/** Bytes that begin like a bundle. */
export function bundleBytes(length: number, seed = 1): Buffer {
  const bytes = seededRandom(seed).bytes(length);
  bytes.write('HG20', 'latin1');
  return bytes;
}

/** Everything quick. */
const QUICK: Partial<FetchLimits> = {
  connectMs: 2000,
  idleMs: 150,
  firstPauseMs: 1,
  longestPauseMs: 5,
  longestWaitMs: 400,
};

export type Asked = Partial<Omit<FetchOptions, 'limits'>> & { readonly limits?: Partial<FetchLimits> };

export function download(url: string, dir: string, more: Asked = {}): Promise<Fetched> {
  return fetchToSpool(parseSourceUrl(url), dir, {
    signal: new AbortController().signal,
    addressPolicy: anyAddress,
    userAgent: 'quicksilver/test',
    ...more,
    limits: { ...QUICK, ...more.limits },
  });
}

export async function downloaded(fetched: Fetched): Promise<Buffer> {
  return readFile(fetched.path);
}

/** What a download ends in. */
export async function faultOf(work: Promise<unknown>): Promise<HgError> {
  const end = await work.then(
    () => new Error('it did not fail'),
    (err: unknown) => err,
  );
  if (end instanceof Error && 'code' in end && 'where' in end) return end as HgError;
  throw end;
}
