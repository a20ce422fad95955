import { Agent, type IncomingMessage, request as plainRequest } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import type { Socket } from 'node:net';
import { HgError } from '@quicksilver/hg-types';
import { Body } from './body.ts';
import { type AddressPolicy, checkConnected, checkedLookup, checkLiteral, type Resolve } from './connect.ts';
import { connectionFault } from './faults.ts';
import type { SourceUrl } from './source-url.ts';

export interface ExchangeOptions {
  readonly signal: AbortSignal;
  readonly headers: Readonly<Record<string, string>>;
  readonly addressPolicy: AddressPolicy;
  readonly resolve: Resolve;
  /** Milliseconds for a connection, encryption included. */
  readonly connectMs: number;
  /** Milliseconds without a word from the server. */
  readonly idleMs: number;
  readonly maxRedirects: number;
  /** Certificates that are trusted instead of the usual ones. */
  readonly ca?: string | undefined;
}

export interface Answer {
  readonly response: IncomingMessage;
  readonly body: Body;
  /** Host that answered, which redirects may have led to. */
  readonly host: string;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * One GET, through its redirects. Each begins at the source's own address again, so that a signed address it leads to
 * is a fresh one. Every hop is checked as the first one is; from https there is no way back to http.
 */
export async function exchange(source: SourceUrl, options: ExchangeOptions): Promise<Answer> {
  const start = new URL(source.href);
  const seen = new Set<string>();
  let url = start;
  for (;;) {
    seen.add(url.href);
    checkLiteral(url.hostname, options.addressPolicy);
    // A login is for the one who asked for it: another host, port or scheme never gets it.
    const auth = url.origin === start.origin ? source.auth : undefined;
    const { response, body } = await ask(url, auth, options);
    if (!REDIRECTS.has(response.statusCode ?? 0)) return { response, body, host: url.host };
    body[Symbol.dispose]();
    const next = redirectTarget(url, response.headers.location);
    if (seen.has(next.href)) throw redirect('the source redirects in a circle', url);
    if (seen.size > options.maxRedirects) throw redirect('the source redirects too often', url);
    url = next;
  }
}

function redirectTarget(from: URL, location: string | undefined): URL {
  const to = location === undefined ? null : URL.parse(location, from.href);
  if (!to) throw redirect('the source redirects to nowhere', from);
  if (to.protocol !== 'http:' && to.protocol !== 'https:') {
    throw redirect('the source redirects to another kind of address', from, { scheme: to.protocol });
  }
  if (from.protocol === 'https:' && to.protocol === 'http:') {
    throw redirect('the source redirects from https to http, where anyone on the way could change the bundle', from, {
      to: to.host,
    });
  }
  to.username = '';
  to.password = '';
  to.hash = '';
  return to;
}

function redirect(message: string, from: URL, more: Readonly<Record<string, string>> = {}): HgError {
  return new HgError('HG_REDIRECT', message, { host: from.host, ...more });
}

function ask(url: URL, auth: string | undefined, options: ExchangeOptions): Promise<Omit<Answer, 'host'>> {
  const { signal, addressPolicy, resolve, connectMs, idleMs, ca } = options;
  const where = { host: url.host };
  const login = auth === undefined ? {} : { authorization: `Basic ${Buffer.from(auth).toString('base64')}` };
  const secure = url.protocol === 'https:';
  // Agents of our own, for one connection: no proxy from the environment and no connection that was checked long ago.
  const common = {
    method: 'GET',
    headers: { accept: '*/*', 'accept-encoding': 'identity', connection: 'close', ...options.headers, ...login },
    lookup: checkedLookup(addressPolicy, resolve),
    signal,
  };
  return new Promise<Omit<Answer, 'host'>>((answered, failed) => {
    const request = secure
      ? secureRequest(url, { ...common, agent: new SecureAgent({ keepAlive: false }), ca, rejectUnauthorized: true })
      : plainRequest(url, { ...common, agent: new Agent({ keepAlive: false }) });
    const silence = (message: string) => () => request.destroy(new HgError('HG_NETWORK', message, where));
    let timer = setTimeout(silence('the source takes no connection in time'), connectMs);
    const connected = (): void => {
      clearTimeout(timer);
      timer = setTimeout(silence('the source does not answer in time'), idleMs);
    };
    request.once('socket', (socket: Socket) => {
      socket.once('connect', () => {
        try {
          checkConnected(socket.remoteAddress, addressPolicy);
        } catch (err) {
          request.destroy(err instanceof Error ? err : undefined);
        }
      });
      socket.once(secure ? 'secureConnect' : 'connect', connected);
    });
    request.once('response', (response) => {
      clearTimeout(timer);
      answered({ response, body: new Body(response) });
    });
    request.on('error', (err) => {
      clearTimeout(timer);
      failed(connectionFault(err, where));
    });
    request.end();
  });
}
