import { HgError } from '@quicksilver/hg-types';

/** An address as three things that are never mixed up: what is asked for, what is kept secret, what is shown. */
export interface SourceUrl {
  /** Normal form, without user info. The query may hold a signature: for requests only. */
  readonly href: string;
  /** `user:password`, for this origin only; never shown. */
  readonly auth: string | undefined;
  /** For people, logs and receipts: user, host and path. */
  readonly shown: string;
  readonly hasQuery: boolean;
}

const MAX_LENGTH = 4096;

/**
 * One spelling per address: scheme and host in lower case, default ports and dot segments gone, blanks and letters of
 * other scripts as %XX in capitals, what needs no escape unescaped. Nothing else changes: '+', '%23' and a trailing
 * slash mean themselves. No message here repeats the address, since it may hold a password.
 *
 * @throws HgError HG_USAGE for what is no http(s) address or could be read in two ways.
 */
export function parseSourceUrl(text: string): SourceUrl {
  if (text.length > MAX_LENGTH) throw refused(`an address has ${MAX_LENGTH} characters at most`);
  // The URL parser would drop or turn these round without a word.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\u0000-\u001f\u007f\\]/.test(text)) throw refused('an address holds no control characters and no "\\"');
  if (!/^https?:\/\/[^/]/i.test(text)) throw refused('an address begins with http:// or https:// and a host');
  if (text.includes('#')) throw refused('a "#" in an address begins a fragment: write %23 if it belongs to the name');
  const url = URL.parse(text);
  if (!url) throw refused('this cannot be read as an address');
  const auth = url.username || url.password ? `${decoded(url.username)}:${decoded(url.password)}` : undefined;
  const user = url.username ? `${url.username}@` : '';
  const path = plainEscapes(url.pathname);
  const origin = `${url.protocol}//${url.host}`;
  return {
    href: `${origin}${path}${plainEscapes(url.search)}`,
    auth,
    shown: `${url.protocol}//${user}${url.host}${path}`,
    hasQuery: url.search !== '',
  };
}

/** True for what is meant as an address rather than a path. */
export function isAddress(text: string): boolean {
  return /^https?:/i.test(text);
}

function plainEscapes(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_all, hex: string) => {
    const ch = String.fromCharCode(Number.parseInt(hex, 16));
    return /[A-Za-z0-9._~-]/.test(ch) ? ch : `%${hex.toUpperCase()}`;
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a lone "%" is itself
  }
}

function refused(message: string): HgError {
  return new HgError('HG_USAGE', message);
}
