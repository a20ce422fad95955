import { readdir } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { seededRandom, serveBytes, sourceServer, TEST_CERTIFICATE, tmpDir } from '@quicksilver/testing';
import { bundleBytes, download, downloaded, faultOf } from './support/download.ts';

const bytes = bundleBytes(300_000);

describe('a download', () => {
  it('brings every byte, says who asks, and asks once', async () => {
    using dir = tmpDir();
    await using server = await sourceServer((request, response) => serveBytes(request, response, { bytes }));
    const fetched = await download(server.url('/a.hg'), dir.path);
    expect((await downloaded(fetched)).equals(bytes)).toBe(true);
    expect(fetched).toMatchObject({ size: bytes.length, tries: 1, received: bytes.length });
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]?.headers).toMatchObject({
      'user-agent': 'quicksilver/test',
      'accept-encoding': 'identity',
    });
  });

  it('K020: cut at 50 random places, it goes on where it was and is whole', async () => {
    const random = seededRandom(20);
    for (let i = 0; i < 50; i++) {
      using dir = tmpDir();
      const cut = random.int(i === 0 ? 0 : 4, bytes.length);
      const chunked = i % 3 === 0;
      await using server = await sourceServer((request, response, n) =>
        serveBytes(request, response, { bytes, chunked, ...(n === 1 ? { cutAfter: cut } : {}) }),
      );
      const fetched = await download(server.url('/a.hg'), dir.path);
      expect((await downloaded(fetched)).equals(bytes)).toBe(true);
      expect(server.requests).toHaveLength(2);
      if (cut >= 4) expect(fetched.received).toBe(bytes.length);
    }
  });

  it('K020: cut 50 times, it needs 51 requests and no byte twice', async () => {
    using dir = tmpDir();
    const step = Math.ceil(bytes.length / 50.5);
    await using server = await sourceServer((request, response) =>
      serveBytes(request, response, { bytes, cutAfter: step }),
    );
    const fetched = await download(server.url('/a.hg'), dir.path);
    expect((await downloaded(fetched)).equals(bytes)).toBe(true);
    expect(server.requests).toHaveLength(51);
    expect(fetched).toMatchObject({ tries: 51, received: bytes.length });
  });

  it.each([false, true])(
    'K020: always cut at the same offset (ranges ignored: %s), it ends at the cap',
    async (ignore) => {
      using dir = tmpDir();
      await using server = await sourceServer((request, response) => {
        const start = Number(/(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
        const cutAfter = ignore ? 100_000 : Math.max(0, 100_000 - start);
        serveBytes(request, response, { bytes, cutAfter, ignoreRanges: ignore });
      });
      const fault = await faultOf(download(server.url('/a.hg'), dir.path, { limits: { fruitless: 4 } }));
      expect(fault).toMatchObject({ code: 'HG_UNREACHABLE', class: 'network', retryable: false });
      expect(fault.where).toMatchObject({ received: 100_000, expected: bytes.length, tries: 5 });
      expect(server.requests).toHaveLength(5);
      // Nor does another attempt begin again.
      const again = await faultOf(download(server.url('/a.hg'), dir.path, { limits: { fruitless: 4 } }));
      expect(again.code).toBe('HG_UNREACHABLE');
      expect(server.requests).toHaveLength(5);
    },
  );

  it('ends at the cap of all tries even where each brings a little', async () => {
    using dir = tmpDir();
    await using server = await sourceServer((request, response) =>
      serveBytes(request, response, { bytes, cutAfter: 10 }),
    );
    const fault = await faultOf(download(server.url('/a.hg'), dir.path, { limits: { tries: 7 } }));
    expect(fault.code).toBe('HG_UNREACHABLE');
    expect(server.requests).toHaveLength(7);
  });

  it('is taken from the front when the server ignores ranges', async () => {
    using dir = tmpDir();
    await using server = await sourceServer((request, response, n) =>
      serveBytes(request, response, { bytes, ignoreRanges: true, ...(n < 3 ? { cutAfter: 50_000 * n } : {}) }),
    );
    const fetched = await download(server.url('/a.hg'), dir.path);
    expect((await downloaded(fetched)).equals(bytes)).toBe(true);
    expect(server.requests[1]?.headers.range).toBe('bytes=50000-');
  });

  it('takes parts as they are sent', async () => {
    using dir = tmpDir();
    await using server = await sourceServer((request, response) => {
      const start = Number(/(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
      if (start === 0) return serveBytes(request, response, { bytes, cutAfter: 1000 });
      const end = Math.min(bytes.length, start + 50_000) - 1;
      const headers = { 'content-range': `bytes ${start}-${end}/${bytes.length}`, 'content-length': end - start + 1 };
      response.writeHead(206, { ...headers, etag: `"v-${bytes.length}"` }).end(bytes.subarray(start, end + 1));
    });
    const fetched = await download(server.url('/a.hg'), dir.path, { limits: { tries: 3 } });
    expect((await downloaded(fetched)).equals(bytes)).toBe(true);
  });

  it('never mixes two versions: a source that changes between requests', async () => {
    const other = bundleBytes(280_000, 2);
    for (const lying of [false, true]) {
      using dir = tmpDir();
      await using server = await sourceServer((request, response, n) => {
        if (n === 1) return serveBytes(request, response, { bytes, etag: '"one"', cutAfter: 120_000 });
        // A server that does not know If-Range sends a part of the other version.
        if (lying && n === 2) delete request.headers['if-range'];
        return serveBytes(request, response, { bytes: other, etag: '"two"' });
      });
      const fetched = await download(server.url('/a.hg'), dir.path);
      expect((await downloaded(fetched)).equals(other)).toBe(true);
      expect(fetched.validator).toEqual({ kind: 'etag', value: '"two"' });
      expect((await readdir(dir.path)).sort()).toEqual([expect.stringMatching(/^data\./), 'journal.json']);
    }
  });

  it('never mixes two versions: without a strong validator it begins again', async () => {
    using dir = tmpDir();
    await using server = await sourceServer((request, response, n) =>
      serveBytes(request, response, { bytes, etag: 'W/"weak"', ...(n === 1 ? { cutAfter: 120_000 } : {}) }),
    );
    const fetched = await download(server.url('/a.hg'), dir.path);
    expect((await downloaded(fetched)).equals(bytes)).toBe(true);
    expect(server.requests[1]?.headers.range).toBeUndefined();
  });

  it('goes on by a modification time that is old enough', async () => {
    using dir = tmpDir();
    const lastModified = 'Tue, 03 Mar 2026 10:00:00 GMT';
    await using server = await sourceServer((request, response, n) =>
      serveBytes(request, response, { bytes, etag: null, lastModified, ...(n === 1 ? { cutAfter: 120_000 } : {}) }),
    );
    const fetched = await download(server.url('/a.hg'), dir.path);
    expect((await downloaded(fetched)).equals(bytes)).toBe(true);
    expect(fetched.received).toBe(bytes.length);
    expect(server.requests[1]?.headers['if-range']).toBe(lastModified);
  });

  it('of an answer without a length is whole when the server says that it ends', async () => {
    using dir = tmpDir();
    await using server = await sourceServer((request, response) =>
      serveBytes(request, response, { bytes, chunked: true }),
    );
    const fetched = await download(server.url('/a.hg'), dir.path);
    expect((await downloaded(fetched)).equals(bytes)).toBe(true);
  });

  it('of a length that is a lie is seen as short', async () => {
    using dir = tmpDir();
    await using server = await sourceServer((request, response) =>
      serveBytes(request, response, { bytes, claimedLength: bytes.length + 10 }),
    );
    const fault = await faultOf(download(server.url('/a.hg'), dir.path, { limits: { fruitless: 2 } }));
    expect(fault).toMatchObject({ code: 'HG_UNREACHABLE' });
    expect(fault.where).toMatchObject({ received: bytes.length, expected: bytes.length + 10 });
  });

  it('is resumed by another attempt, from what a dead one left', async () => {
    using dir = tmpDir();
    const stop = new AbortController();
    await using server = await sourceServer((request, response, n) => {
      if (n > 1) return serveBytes(request, response, { bytes });
      response.writeHead(200, { 'content-length': bytes.length, etag: `"v-${bytes.length}"` });
      response.write(bytes.subarray(0, 150_000)); // and then nothing
    });
    const onProgress = ({ done }: { done: number }) => void (done === 150_000 && stop.abort());
    await expect(
      download(server.url('/a.hg'), dir.path, { signal: stop.signal, onProgress, limits: { idleMs: 5000 } }),
    ).rejects.toMatchObject({ name: 'AbortError' });
    const fetched = await download(server.url('/a.hg'), dir.path);
    expect(fetched.received).toBe(bytes.length);
    expect((await downloaded(fetched)).equals(bytes)).toBe(true);
    // And a whole one is not fetched again.
    expect(await download(server.url('/a.hg'), dir.path)).toEqual(fetched);
    expect(server.requests).toHaveLength(2);
  });

  it('K067: being stopped, however often, costs no try', async () => {
    using dir = tmpDir();
    await using server = await sourceServer((request, response, n) => {
      if (n > 8) return serveBytes(request, response, { bytes });
      return response.writeHead(200, { 'content-length': bytes.length, etag: '"x"' }).flushHeaders();
    });
    for (let n = 1; n <= 8; n++) {
      const work = download(server.url('/a.hg'), dir.path, {
        signal: AbortSignal.timeout(40),
        limits: { fruitless: 2 },
      });
      await expect(work).rejects.toMatchObject({ name: 'TimeoutError' });
    }
    expect(await download(server.url('/a.hg'), dir.path, { limits: { fruitless: 2 } })).toMatchObject({ tries: 1 });
  });

  it('goes over https with a certificate that is trusted, and not with another', async () => {
    using dir = tmpDir();
    await using server = await sourceServer((request, response) => serveBytes(request, response, { bytes }), {
      tls: true,
    });
    const fault = await faultOf(download(server.url('/a.hg'), dir.path));
    expect(fault).toMatchObject({ code: 'HG_TLS', class: 'network' });
    expect(server.requests).toHaveLength(0);
    const fetched = await download(server.url('/a.hg'), dir.path, { ca: TEST_CERTIFICATE });
    expect((await downloaded(fetched)).equals(bytes)).toBe(true);
  });

  it('sends a login to the host it is for, and to no other', async () => {
    using dir = tmpDir();
    await using other = await sourceServer((request, response) => serveBytes(request, response, { bytes }));
    await using server = await sourceServer((_request, response) =>
      response.writeHead(302, { location: other.url('/b.hg') }).end(),
    );
    await download(server.url('/a.hg').replace('//', '//me:secret@'), dir.path);
    expect(server.requests[0]?.headers.authorization).toBe(`Basic ${Buffer.from('me:secret').toString('base64')}`);
    expect(other.requests[0]?.headers.authorization).toBeUndefined();
  });
});
