import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { TEST_CERTIFICATE, TEST_CERTIFICATE_KEY } from './test-certificate.ts';

export interface SourceServer extends AsyncDisposable {
  readonly port: number;
  /** Of every request, in order. */
  readonly requests: readonly { readonly path: string; readonly headers: IncomingMessage['headers'] }[];
  url(path: string): string;
}

/** What a test makes of the n-th request (from 1 on). */
export type SourceHandler = (request: IncomingMessage, response: ServerResponse, n: number) => void;

/** A web server on a free port of 127.0.0.1 that behaves as a test wants. */
export async function sourceServer(handler: SourceHandler, options: { tls?: boolean } = {}): Promise<SourceServer> {
  const requests: { path: string; headers: IncomingMessage['headers'] }[] = [];
  const listener: RequestListener = (request, response) => {
    requests.push({ path: request.url ?? '', headers: request.headers });
    response.on('error', () => {});
    handler(request, response, requests.length);
  };
  const server = options.tls
    ? createSecureServer({ cert: TEST_CERTIFICATE, key: TEST_CERTIFICATE_KEY }, listener)
    : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    port,
    requests,
    url: (path) => `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}${path}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export interface ServedBytes {
  readonly bytes: Uint8Array;
  /** Default: a strong one that fits the bytes' length; null for none. */
  readonly etag?: string | null;
  readonly lastModified?: string;
  /** The connection breaks after so many bytes of this answer's body. */
  readonly cutAfter?: number;
  readonly ignoreRanges?: boolean;
  /** What Content-Length says, if not the truth. */
  readonly claimedLength?: number;
  /** Chunked coding: no length. */
  readonly chunked?: boolean;
}

/** Answers as a decent server does, ranges and If-Range included, but for what `served` says. */
export function serveBytes(request: IncomingMessage, response: ServerResponse, served: ServedBytes): void {
  const { bytes, cutAfter } = served;
  const etag = served.etag === undefined ? `"v-${bytes.length}"` : (served.etag ?? undefined);
  const validator = etag ?? served.lastModified;
  const asked = /^bytes=(\d+)-$/.exec(request.headers.range ?? '');
  const fits = request.headers['if-range'] === undefined || request.headers['if-range'] === validator;
  const start = asked && fits && !served.ignoreRanges ? Number(asked[1]) : 0;
  if (etag !== undefined) response.setHeader('etag', etag);
  if (served.lastModified !== undefined) response.setHeader('last-modified', served.lastModified);
  response.setHeader('content-type', 'application/octet-stream');
  if (start > 0 && start >= bytes.length) {
    response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end();
    return;
  }
  if (start > 0) response.setHeader('content-range', `bytes ${start}-${bytes.length - 1}/${bytes.length}`);
  if (!served.chunked) response.setHeader('content-length', served.claimedLength ?? bytes.length - start);
  response.writeHead(start > 0 ? 206 : 200);
  const body = bytes.subarray(start, cutAfter === undefined ? undefined : start + cutAfter);
  if (cutAfter !== undefined && start + cutAfter < bytes.length) {
    response.flushHeaders();
    // Once the bytes have left, not before: what had been sent is part of the test.
    if (body.length === 0) response.socket?.end();
    else response.write(body, () => response.socket?.end());
  } else if (served.claimedLength !== undefined) {
    response.write(body, () => response.socket?.end());
  } else response.end(body);
}
