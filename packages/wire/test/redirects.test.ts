import { describe, expect, it } from '@jest/globals';
import { serveBytes, sourceServer, TEST_CERTIFICATE, tmpDir } from '@quicksilver/testing';
import { type AddressPolicy, publicAddressesOnly, type Resolve } from '../src/connect.ts';
import { bundleBytes, download, downloaded, faultOf } from './support/download.ts';

const bytes = bundleBytes(20_000);

describe('redirects', () => {
  it('K022: in a circle, too many, to nowhere or to another kind of address end at once', async () => {
    using dir = tmpDir();
    await using server = await sourceServer((request, response) => {
      const n = Number(/^\/many(\d+)/.exec(request.url ?? '')?.[1] ?? 0);
      const to: Record<string, string> = { '/loop': '/pool', '/pool': '/loop', '/self': '/self', '/ftp': 'ftp://h/x' };
      const location = n > 0 ? `/many${n + 1}` : to[request.url ?? ''];
      response.writeHead(302, location === undefined ? {} : { location }).end();
    });
    for (const [path, message, requests] of [
      ['/loop', 'circle', 2],
      ['/self', 'circle', 1],
      ['/many1', 'too often', 11],
      ['/none', 'nowhere', 1],
      ['/ftp', 'another kind', 1],
    ] as const) {
      const before = server.requests.length;
      const fault = await faultOf(download(server.url(path), dir.path));
      expect(fault).toMatchObject({ code: 'HG_REDIRECT', message: expect.stringContaining(message), retryable: false });
      expect(server.requests.length - before).toBe(requests);
    }
  });

  it('K101: honest ones work, also from http to https', async () => {
    using dir = tmpDir();
    await using secure = await sourceServer((request, response) => serveBytes(request, response, { bytes }), {
      tls: true,
    });
    await using server = await sourceServer((request, response) => {
      if (request.url === '/a.hg') response.writeHead(301, { location: '/b.hg' }).end();
      else response.writeHead(308, { location: secure.url('/c.hg') }).end();
    });
    const fetched = await download(server.url('/a.hg'), dir.path, { ca: TEST_CERTIFICATE });
    expect((await downloaded(fetched)).equals(bytes)).toBe(true);
    expect(fetched.url).toBe(server.url('/a.hg'));
  });

  it('from https to http are refused', async () => {
    using dir = tmpDir();
    await using plain = await sourceServer((request, response) => serveBytes(request, response, { bytes }));
    await using server = await sourceServer(
      (_request, response) => response.writeHead(302, { location: plain.url('/c.hg') }).end(),
      { tls: true },
    );
    const fault = await faultOf(download(server.url('/a.hg'), dir.path, { ca: TEST_CERTIFICATE }));
    expect(fault).toMatchObject({ code: 'HG_REDIRECT', message: expect.stringContaining('from https to http') });
    expect(plain.requests).toHaveLength(0);
  });
});

describe('K101: private networks', () => {
  const asService = { addressPolicy: publicAddressesOnly } as const;

  it.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://0x7f000001/',
    'http://2130706433/',
    'http://0.0.0.0/',
    'http://10.0.0.1/',
    'http://192.168.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[fd00::1]/',
    'http://[fe80::1]/',
    'http://[64:ff9b::7f00:1]/',
  ])('%s is not connected to', async (url) => {
    using dir = tmpDir();
    expect(await faultOf(download(url, dir.path, asService))).toMatchObject({ code: 'HG_POLICY', retryable: false });
  });

  it('nor is a name that leads there, whatever else it leads to', async () => {
    using dir = tmpDir();
    await using server = await sourceServer(() => {});
    for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1', '169.254.169.254']) {
      const resolve: Resolve = async () => [{ address, family: address.includes(':') ? 6 : 4 }];
      const url = `http://inside.example:${server.port}/a.hg`;
      const fault = await faultOf(download(url, dir.path, { ...asService, resolve }));
      expect(fault).toMatchObject({ code: 'HG_POLICY', where: expect.objectContaining({ host: 'inside.example' }) });
    }
    expect(server.requests).toHaveLength(0);
  });

  it('the machine itself, by the real resolver', async () => {
    using dir = tmpDir();
    await using server = await sourceServer(() => {});
    const fault = await faultOf(download(`http://localhost:${server.port}/a.hg`, dir.path, asService));
    expect(fault.code).toBe('HG_POLICY');
    expect(server.requests).toHaveLength(0);
  });

  it('a name is asked once per connection, and only what was checked is connected to', async () => {
    using dir = tmpDir();
    await using server = await sourceServer(() => {});
    const asked: string[] = [];
    // Public at the first look, inside at the second: there is no second look, and the first leads nowhere.
    const resolve: Resolve = async (host) => {
      asked.push(host);
      return asked.length === 1 ? [{ address: '192.0.2.1', family: 4 }] : [{ address: '127.0.0.1', family: 4 }];
    };
    const url = `http://rebind.example:${server.port}/a.hg`;
    const fault = await faultOf(download(url, dir.path, { ...asService, resolve }));
    expect(fault.code).toBe('HG_POLICY');
    expect(asked).toHaveLength(1);
    expect(server.requests).toHaveLength(0);
  });

  it('a name whose answer changes between tries is checked again with each', async () => {
    using dir = tmpDir();
    await using server = await sourceServer(() => {});
    const answers = ['8.8.8.8', '127.0.0.1'];
    const resolve: Resolve = async () => [{ address: answers.shift() ?? '127.0.0.1', family: 4 }];
    const url = `http://rebind.example:${server.port}/a.hg`;
    const limits = { connectMs: 50 };
    expect(await faultOf(download(url, dir.path, { ...asService, resolve, limits }))).toMatchObject({
      code: 'HG_POLICY',
    });
    expect(answers).toHaveLength(0);
    expect(server.requests).toHaveLength(0);
  });

  it('redirects that lead there are checked as the first address is', async () => {
    await using inside = await sourceServer(() => {});
    // The test's own server plays the public one; everything else is judged as always.
    const addressPolicy: AddressPolicy = (address) => address === '127.0.0.1' || publicAddressesOnly(address);
    const resolve: Resolve = async (host) => [{ address: host === 'outside' ? '127.0.0.1' : '127.0.0.2', family: 4 }];
    for (const location of [
      'http://169.254.169.254/latest',
      `http://[::ffff:127.0.0.1]:${inside.port}/`,
      'http://10.1.1.1/',
      `http://inside:${inside.port}/`,
    ]) {
      using dir = tmpDir();
      await using server = await sourceServer((_request, response) => response.writeHead(302, { location }).end());
      const work = download(`http://outside:${server.port}/a.hg`, dir.path, { addressPolicy, resolve });
      expect(await faultOf(work)).toMatchObject({ code: 'HG_POLICY' });
      expect(server.requests).toHaveLength(1);
    }
    expect(inside.requests).toHaveLength(0);
  });
});

describe('K103: passwords', () => {
  const secret = 'hunter2';
  it('are in no message, fact, cause or file, whatever fails; user and host are', async () => {
    await using server = await sourceServer((request, response) => {
      const status = Number(request.url?.slice(1));
      if (status > 0) response.writeHead(status).end();
      else if (request.url === '/cut') serveBytes(request, response, { bytes, cutAfter: 5000, ignoreRanges: true });
    });
    await using secure = await sourceServer(() => {}, { tls: true });
    const resolve: Resolve = async () => {
      throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
    };
    const at = (url: string): string => url.replace('//', `//me:${secret}@`);
    for (const [url, more] of [
      [server.url('/401'), {}],
      [server.url('/403'), {}],
      [server.url('/404'), {}],
      [server.url('/500'), {}],
      [server.url('/302'), {}],
      [server.url('/cut'), {}],
      [server.url('/silent'), {}],
      [secure.url('/x'), {}],
      [`http://nowhere.invalid/x`, { resolve }],
      ['http://10.0.0.1/x', { addressPolicy: publicAddressesOnly }],
    ] as const) {
      using dir = tmpDir();
      const fault = await faultOf(
        download(at(url), dir.path, { ...more, limits: { fruitless: 2, idleMs: 40, ...more } }),
      );
      const said = everything(fault);
      expect(said).not.toContain(secret);
      expect(said).not.toContain(Buffer.from(`me:${secret}`).toString('base64'));
      expect(fault.where.source).toBe(`${new URL(url).protocol}//me@${new URL(url).host}${new URL(url).pathname}`);
    }
  });
});

/** An error with all that hangs on it. */
function everything(err: unknown): string {
  if (!(err instanceof Error)) return JSON.stringify(err) ?? '';
  const own = JSON.stringify(
    err,
    Object.getOwnPropertyNames(err).filter((name) => name !== 'cause'),
  );
  return `${own} ${err.stack} ${JSON.stringify('where' in err ? err.where : {})} ${err.cause ? everything(err.cause) : ''}`;
}
