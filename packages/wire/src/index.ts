export { isPublicAddress } from './addresses.ts';
export {
  type AddressPolicy,
  anyAddress,
  publicAddressesOnly,
  type Resolve,
  type ResolvedAddress,
} from './connect.ts';
export { type Digest, type DigestAlgorithm, parseDigest } from './digests.ts';
export {
  DEFAULT_LIMITS,
  type Fetched,
  type FetchLimits,
  type FetchOptions,
  type FetchProgress,
} from './fetch-options.ts';
export { fetchToSpool } from './fetch-to-spool.ts';
export type { Validator } from './headers.ts';
export { isAddress, parseSourceUrl, type SourceUrl } from './source-url.ts';
