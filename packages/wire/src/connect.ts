import { lookup as systemLookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { HgError } from '@quicksilver/hg-types';
import { isPublicAddress } from './addresses.ts';

/** Whether an address may be connected to. */
export type AddressPolicy = (address: string) => boolean;

/** For services: what clients name must not lead them into the network that they stand in. */
export const publicAddressesOnly: AddressPolicy = isPublicAddress;
/** For a person's own command line, or as configured. */
export const anyAddress: AddressPolicy = () => true;

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

export type Resolve = (host: string) => Promise<readonly ResolvedAddress[]>;

export const resolveBySystem: Resolve = (host) => systemLookup(host, { all: true, verbatim: true });

/**
 * The lookup of one connection. What it gives out is what has been checked and what is connected to: a name that
 * changes its answer is asked and checked again with each connection.
 */
export function checkedLookup(policy: AddressPolicy, resolve: Resolve): LookupFunction {
  return (host, options, callback) => {
    void (async () => {
      let found: readonly ResolvedAddress[];
      try {
        found = await allowedAddresses(host, policy, resolve);
      } catch (err) {
        callback(err instanceof Error ? err : noAddress(host), '', 0);
        return;
      }
      const [first] = found;
      if (options.all || !first) callback(null, [...found]);
      else callback(null, first.address, first.family);
    })();
  };
}

async function allowedAddresses(host: string, policy: AddressPolicy, resolve: Resolve): Promise<ResolvedAddress[]> {
  const found = await resolve(host);
  const allowed = found.filter(({ address }) => policy(address));
  if (allowed.length === 0) throw found.length > 0 ? refusedAddress(host) : noAddress(host);
  return allowed;
}

/** Hosts that are addresses are connected to without a lookup. */
export function checkLiteral(hostname: string, policy: AddressPolicy): void {
  const literal = hostname.replace(/^\[|\]$/g, '');
  if (isIP(literal) !== 0 && !policy(literal)) throw refusedAddress(literal);
}

/** The second wall: where a socket has really come to. */
export function checkConnected(remote: string | undefined, policy: AddressPolicy): void {
  if (remote !== undefined && !policy(remote)) throw refusedAddress(remote);
}

function refusedAddress(host: string): HgError {
  return new HgError('HG_POLICY', 'the source leads into a private network (QUICKSILVER_ALLOW_PRIVATE_SOURCES)', {
    host,
  });
}

function noAddress(host: string): HgError {
  return new HgError('HG_HOST_UNKNOWN', 'the name of the source has no address', { host });
}
