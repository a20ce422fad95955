import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { canMountDisk, serveBytes, smallDisk, sourceServer, tmpDir } from '@quicksilver/testing';
import type { Resolve } from '../src/connect.ts';
import { parseDigest } from '../src/digests.ts';
import { bundleBytes, download, downloaded, faultOf } from './support/download.ts';

const bytes = bundleBytes(50_000);
const PAGE = '<!DOCTYPE html><title>Sign in</title>';

/** One request, one status. */
async function statusOf(status: number, headers: Record<string, string> = {}, limits = {}) {
  using dir = tmpDir();
  await using server = await sourceServer((_request, response) =>
    response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(PAGE),
  );
  const fault = await faultOf(
    download(server.url('/a.hg?sig=s3same'), dir.path, { limits: { fruitless: 3, ...limits } }),
  );
  expect((await readdir(dir.path)).filter((name) => name.startsWith('data'))).toEqual([]);
  return { fault, requests: server.requests.length };
}

describe('answers that are no bundle', () => {
  it.each([
    [404, 'HG_SOURCE_GONE'],
    [410, 'HG_SOURCE_GONE'],
    [400, 'HG_SOURCE_DENIED'],
    [401, 'HG_SOURCE_DENIED'],
    [403, 'HG_SOURCE_DENIED'],
    [451, 'HG_SOURCE_DENIED'],
    [204, 'HG_REDIRECT'],
    [300, 'HG_REDIRECT'],
  ])('K022: %i is %s, and asked once', async (status, code) => {
    const { fault, requests } = await statusOf(status);
    expect(fault).toMatchObject({ code, class: 'source', retryable: false });
    expect(fault.where).toMatchObject({ status });
    expect(requests).toBe(1);
  });

  it.each([408, 429, 500, 502, 503, 504])('K022: %i may pass, and is asked again up to the cap', async (status) => {
    const { fault, requests } = await statusOf(status);
    expect(fault).toMatchObject({ code: 'HG_UNREACHABLE', class: 'network', retryable: false });
    expect(fault.where).toMatchObject({ status, received: 0, tries: 3 });
    expect(requests).toBe(3);
  });

  it.each([
    ['a page', PAGE, 'text/html; charset=utf-8', /with a page/],
    ['a page that says that it is data', PAGE, 'application/octet-stream', /with a page/],
    ['JSON', '{"error":"no"}', 'application/json', /with a page/],
    ['something else', 'PK\x03\x04 and so on', 'application/zip', /no bundle/],
    ['something like a bundle', 'HG99 and so on', 'application/octet-stream', /no bundle/],
    ['three bytes', 'HG2', 'application/octet-stream', /no bundle/],
    ['nothing', '', 'application/octet-stream', /empty/],
  ])('K022: %s with status 200 is never parsed', async (_what, text, type, message) => {
    using dir = tmpDir();
    await using server = await sourceServer((_request, response) =>
      response.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(text) }).end(text),
    );
    const fault = await faultOf(download(server.url('/a.hg'), dir.path));
    expect(fault).toMatchObject({ code: 'HG_NOT_BUNDLE', message: expect.stringMatching(message) });
    expect(server.requests).toHaveLength(1);
  });

  it('K022: a page in the middle of a download is no part of it', async () => {
    using dir = tmpDir();
    await using server = await sourceServer((request, response, n) => {
      if (n !== 2) serveBytes(request, response, { bytes, ...(n === 1 ? { cutAfter: 20_000 } : {}) });
      else response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
    });
    expect(await faultOf(download(server.url('/a.hg'), dir.path))).toMatchObject({ code: 'HG_NOT_BUNDLE' });
    expect((await downloaded(await download(server.url('/a.hg'), dir.path))).equals(bytes)).toBe(true);
  });

  it('K022: a packed answer is refused by name', async () => {
    using dir = tmpDir();
    await using server = await sourceServer((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bytes),
    );
    expect(await faultOf(download(server.url('/a.hg'), dir.path))).toMatchObject({ code: 'HG_UNSUPPORTED' });
  });

  it('K022: names that do not resolve, and ports that nobody listens on', async () => {
    using dir = tmpDir();
    const resolve: Resolve = async () => {
      throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND', syscall: 'getaddrinfo' });
    };
    expect(await faultOf(download('http://nowhere.invalid/a.hg', dir.path, { resolve }))).toMatchObject({
      code: 'HG_HOST_UNKNOWN',
      class: 'network',
      where: expect.objectContaining({ host: 'nowhere.invalid' }),
    });
    let port = 0;
    {
      await using server = await sourceServer(() => {});
      port = server.port;
    }
    const refused = await faultOf(download(`http://127.0.0.1:${port}/a.hg`, dir.path, { limits: { fruitless: 2 } }));
    expect(refused).toMatchObject({ code: 'HG_UNREACHABLE', class: 'network' });
    expect(refused.where).toMatchObject({ system: 'ECONNREFUSED', received: 0, tries: 2 });
  });

  it('a server that takes connections and stays silent, before or in the middle of an answer', async () => {
    for (const begins of [false, true]) {
      using dir = tmpDir();
      await using server = await sourceServer((_request, response) => {
        if (begins) response.writeHead(200, { 'content-length': bytes.length }).write(bytes.subarray(0, 100));
      });
      const limits = { fruitless: 2, idleMs: 40 };
      const fault = await faultOf(download(server.url('/a.hg'), dir.path, { limits }));
      expect(fault).toMatchObject({
        code: 'HG_UNREACHABLE',
        where: expect.objectContaining({ tries: begins ? 3 : 2 }),
      });
    }
  });

  it('a part that nobody asked for, or another one, is not taken', async () => {
    for (const start of [0, 100]) {
      using dir = tmpDir();
      await using server = await sourceServer((request, response, n) => {
        if (n === 1) return serveBytes(request, response, { bytes, cutAfter: start });
        const headers = { 'content-range': `bytes 5-${bytes.length - 1}/${bytes.length}`, etag: `"v-${bytes.length}"` };
        if (n === 2) response.writeHead(206, headers).end(bytes.subarray(5));
        else serveBytes(request, response, { bytes });
      });
      expect((await downloaded(await download(server.url('/a.hg'), dir.path))).equals(bytes)).toBe(true);
      expect(server.requests).toHaveLength(3);
    }
  });

  it('416 for more than there is: the rest is fetched from the front', async () => {
    using dir = tmpDir();
    const shorter = bundleBytes(10_000, 3);
    await using server = await sourceServer((request, response, n) => {
      if (n === 1) return serveBytes(request, response, { bytes, cutAfter: 20_000 });
      if (n === 2) return response.writeHead(416, { 'content-range': 'bytes */10000' }).end();
      return serveBytes(request, response, { bytes: shorter });
    });
    expect((await downloaded(await download(server.url('/a.hg'), dir.path))).equals(shorter)).toBe(true);
  });

  it('416 right behind the end: an unknown length was the whole', async () => {
    using dir = tmpDir();
    await using server = await sourceServer((request, response, n) => {
      if (n > 1) return serveBytes(request, response, { bytes });
      response.writeHead(200, { etag: `"v-${bytes.length}"`, 'transfer-encoding': 'chunked' });
      response.write(bytes, () => response.socket?.end()); // all of it, but not the end mark
    });
    expect((await downloaded(await download(server.url('/a.hg'), dir.path))).equals(bytes)).toBe(true);
  });
});

describe('sources that ask to wait', () => {
  it('K091: are not asked again before that time', async () => {
    for (const seconds of [true, false]) {
      using dir = tmpDir();
      const asked: number[] = [];
      await using server = await sourceServer((request, response, n) => {
        asked.push(Date.now());
        if (n > 1) return serveBytes(request, response, { bytes });
        const at = seconds ? '1' : new Date(Date.now() + 2000).toUTCString();
        return response.writeHead(429, { 'retry-after': at }).end();
      });
      await download(server.url('/a.hg'), dir.path, { limits: { longestWaitMs: 3000 } });
      expect((asked[1] ?? 0) - (asked[0] ?? 0)).toBeGreaterThanOrEqual(950);
    }
  });

  it('for longer than a task waits are told as that, and left alone', async () => {
    const { fault, requests } = await statusOf(503, { 'retry-after': '3600' });
    expect(fault).toMatchObject({ code: 'HG_SOURCE_BUSY', retryable: false });
    expect(fault.where.seconds).toBe(3600);
    expect(requests).toBe(1);
  });
});

describe('K024: signed addresses', () => {
  it('that expire on the way are classed as refused, with what had arrived, and not asked for ever', async () => {
    using dir = tmpDir();
    await using server = await sourceServer((request, response, n) => {
      if (n === 1) serveBytes(request, response, { bytes, cutAfter: 30_000 });
      else response.writeHead(403).end('Request has expired');
    });
    const fault = await faultOf(download(server.url('/a.hg?X-Signature=s3same'), dir.path));
    expect(fault).toMatchObject({ code: 'HG_SOURCE_DENIED', message: expect.stringContaining('expired') });
    expect(fault.where).toMatchObject({ status: 403, received: 30_000, expected: bytes.length });
    expect(server.requests).toHaveLength(2);
    expect(JSON.stringify([fault, fault.where, fault.message])).not.toContain('s3same');
    expect(await readFile(join(dir.path, 'journal.json'), 'utf8')).not.toContain('s3same');
  });

  it('that a source redirects to are asked for afresh with every try', async () => {
    using dir = tmpDir();
    let signature = 0;
    await using server = await sourceServer((request, response) => {
      if (request.url === '/a.hg') return response.writeHead(302, { location: `/signed?n=${++signature}` }).end();
      if (request.url !== `/signed?n=${signature}`) return response.writeHead(403).end();
      return serveBytes(request, response, { bytes, ...(signature < 4 ? { cutAfter: 15_000 } : {}) });
    });
    const fetched = await download(server.url('/a.hg'), dir.path);
    expect((await downloaded(fetched)).equals(bytes)).toBe(true);
    expect(fetched).toMatchObject({ tries: 4, received: bytes.length });
  });
});

describe('K029: digests and sizes', () => {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const sha512 = createHash('sha512').update(bytes).digest('hex');
  const right = [parseDigest(`sha256:${sha256.toUpperCase()}`), parseDigest(`sha512:${sha512}`)];
  const wrong = parseDigest(`sha512:${'0'.repeat(128)}`);

  it('that match are accepted; the receipt names the digest', async () => {
    using dir = tmpDir();
    await using server = await sourceServer((request, response) => serveBytes(request, response, { bytes }));
    const fetched = await download(server.url('/a.hg'), dir.path, { digests: right, size: bytes.length });
    expect(fetched.sha256).toBe(sha256);
  });

  it('one of which is wrong refuse the file, hard, and nothing of it stays', async () => {
    using dir = tmpDir();
    await using server = await sourceServer((request, response) => serveBytes(request, response, { bytes }));
    const [first = wrong] = right;
    const fault = await faultOf(download(server.url('/a.hg'), dir.path, { digests: [first, wrong] }));
    expect(fault).toMatchObject({ code: 'HG_DIGEST', retryable: false });
    expect(fault.where).toMatchObject({ algorithm: 'sha512', found: sha512 });
    expect(await readdir(dir.path)).toEqual(['journal.json']);
    expect(server.requests).toHaveLength(1);
  });

  it('a size that differs is refused before the transfer', async () => {
    using dir = tmpDir();
    await using server = await sourceServer((request, response) => serveBytes(request, response, { bytes }));
    expect(await faultOf(download(server.url('/a.hg'), dir.path, { size: 5 }))).toMatchObject({
      code: 'HG_DIGEST',
      where: expect.objectContaining({ received: 0, size: bytes.length, wanted: 5 }),
    });
  });

  it.each(['md5:d41d8cd98f00b204e9800998ecf8427e', 'sha256:00', 'sha256', `sha1:${'0'.repeat(40)}`])(
    '%s is refused: a digest that is not checked is none',
    (text) => expect(() => parseDigest(text)).toThrow(expect.objectContaining({ code: 'HG_USAGE' })),
  );
});

describe('limits', () => {
  const onSmallDisk = canMountDisk() ? it : it.skip;
  onSmallDisk('K043: a disk that fills on the way ends it as that; with room again it goes on', async () => {
    using disk = smallDisk({ bytes: 40_960 });
    await using server = await sourceServer((request, response) =>
      serveBytes(request, response, { bytes, chunked: true }),
    );
    const fault = await faultOf(download(server.url('/a.hg'), disk.path));
    expect(fault).toMatchObject({ code: 'HG_NO_SPACE', class: 'storage', retryable: false });
    expect(server.requests).toHaveLength(1);
    execFileSync('mount', ['-o', 'remount,size=1m', disk.path]);
    expect((await downloaded(await download(server.url('/a.hg'), disk.path))).equals(bytes)).toBe(true);
  });

  it('K043: room is looked at before the transfer', async () => {
    using dir = tmpDir();
    const huge = 2 ** 52;
    await using server = await sourceServer((_request, response) =>
      response.writeHead(200, { 'content-length': huge }).write(bytes),
    );
    const fault = await faultOf(download(server.url('/a.hg'), dir.path, { limits: { maxBytes: 2 ** 53 - 1 } }));
    expect(fault).toMatchObject({ code: 'HG_NO_SPACE', class: 'storage', retryable: false });
    expect(fault.where).toMatchObject({ wantedBytes: huge, freeBytes: expect.any(Number) });
    expect(server.requests).toHaveLength(1);
  });

  it.each([false, true])('nothing bigger than allowed is taken (length unknown: %s)', async (chunked) => {
    using dir = tmpDir();
    await using server = await sourceServer((request, response) => serveBytes(request, response, { bytes, chunked }));
    expect(await faultOf(download(server.url('/a.hg'), dir.path, { limits: { maxBytes: 20_000 } }))).toMatchObject({
      code: 'HG_LIMIT',
      where: expect.objectContaining({ limit: 20_000 }),
    });
    expect(server.requests).toHaveLength(1);
  });
});
