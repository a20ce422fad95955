import type { Where } from '@quicksilver/bytes';
import { HgError, isHgErrorCode } from '@quicksilver/hg-types';

/*
 * What a source's answer or silence means. HG_NETWORK alone is tried again: everything else would only be met again.
 */

const GONE: ReadonlySet<number> = new Set([404, 410]);
/** May pass by itself. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429]);

export function statusFault(status: number, where: Where): HgError {
  const facts = { ...where, status };
  if (GONE.has(status)) return new HgError('HG_SOURCE_GONE', 'the source has nothing at this address', facts);
  if (PASSING.has(status) || status >= 500) {
    return new HgError('HG_NETWORK', "the source's server cannot answer now", facts);
  }
  if (status === 401 || status === 407) {
    return new HgError('HG_SOURCE_DENIED', 'the source wants a login', facts);
  }
  if (status >= 400) {
    const late = typeof where.received === 'number' && where.received > 0;
    const message = late
      ? 'the source refuses to go on: a signed address may have expired'
      : 'the source refuses the request';
    return new HgError('HG_SOURCE_DENIED', message, facts);
  }
  return new HgError('HG_REDIRECT', 'the source answers with a status that is no bundle', facts);
}

/** System's and OpenSSL's words for a certificate that cannot be trusted. */
const TLS =
  /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|HOSTNAME_MISMATCH|INVALID_CA|EPROTO$)/;

/** A failed connection or exchange. Node's messages may repeat names and addresses, not what the request held. */
export function connectionFault(err: unknown, where: Where): HgError {
  const code = typeof err === 'object' && err !== null && 'code' in err ? String(err.code) : '';
  if (err instanceof Error && isHgErrorCode(code)) {
    const own = 'where' in err ? (err.where as Where) : {};
    return new HgError(code, err.message, { ...where, ...own }, err.cause);
  }
  if (err instanceof Error && err.name === 'AbortError') return new HgError('HG_CANCELLED', 'the work was cancelled');
  const facts = code === '' ? where : { ...where, reason: code };
  if (code === 'ENOTFOUND' || code === 'ENODATA') {
    return new HgError('HG_HOST_UNKNOWN', 'the name of the source cannot be resolved', facts);
  }
  if (TLS.test(code)) return new HgError('HG_TLS', "the source's certificate or encryption is not accepted", facts);
  return new HgError('HG_NETWORK', 'the connection to the source failed', facts);
}

/** Milliseconds that an answer asks to wait: seconds or a date. */
export function retryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
