import {
  anyAddress,
  type FetchLimits,
  fetchToSpool,
  parseDigest,
  parseSourceUrl,
  publicAddressesOnly,
  type Validator,
} from '@quicksilver/wire';
import { type MirrorContext, report } from './context.ts';
import type { BundleUrl } from './source.ts';
import { ENGINE_VERSION } from './version.ts';

/** What whoever runs the engine allows a download. */
export interface FetchSettings {
  /** Whether sources may lie in private networks; services say no unless configured. */
  readonly allowPrivate: boolean;
  readonly limits?: Partial<FetchLimits> | undefined;
  /** Certificates that are trusted instead of the usual ones (PEM). */
  readonly ca?: string | undefined;
}

/** How the bundle came here, for receipts: no password, no query. */
export interface FetchReceipt {
  readonly url: string;
  /** The address has a query, which may be a signature and is not told. */
  readonly queryLeftOut: boolean;
  readonly validator: Validator | undefined;
  readonly size: number;
  readonly sha256: string;
  /** True when a digest was asked for, and matched. */
  readonly digestMatched: boolean;
  readonly tries: number;
  /** Bytes that came over the network, over all tries. */
  readonly received: number;
}

export interface FetchedBundle {
  readonly path: string;
  readonly receipt: FetchReceipt;
}

/** Brings the bundle into `dir`, which belongs to this download alone; what lies there already is gone on with. */
export async function fetchBundle(
  source: BundleUrl,
  dir: string,
  { settings, ctx }: { settings: FetchSettings; ctx: Pick<MirrorContext, 'signal' | 'onProgress'> },
): Promise<FetchedBundle> {
  const address = parseSourceUrl(source.url);
  const digests = source.digest === undefined ? [] : [parseDigest(source.digest)];
  report(ctx, 'fetch');
  const { path, ...facts } = await fetchToSpool(address, dir, {
    signal: ctx.signal,
    addressPolicy: settings.allowPrivate ? anyAddress : publicAddressesOnly,
    userAgent: `quicksilver/${ENGINE_VERSION}`,
    digests,
    limits: settings.limits,
    ca: settings.ca,
    onProgress: ({ done, total = 0, note }) => {
      report(ctx, 'fetch', { bytes: { done, total }, ...(note === undefined ? {} : { note }) });
    },
  });
  const receipt = { ...facts, queryLeftOut: address.hasQuery, digestMatched: digests.length > 0 };
  return { path, receipt };
}
