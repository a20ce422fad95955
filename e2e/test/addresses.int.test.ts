import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fixturePath, type SourceHandler, serveBytes, sourceServer, waitFor } from '@quicksilver/testing';
import type { TaskView } from '../harness/client.ts';
import { Deployment } from '../harness/deployment.ts';
import { leftovers } from '../harness/volume-view.ts';

const bytes = readFileSync(fixturePath('stream/basic.stream-v2.hg'));
const SECRET = 's3same';

describe('mirrors from addresses, over HTTP', () => {
  let site: Deployment;
  let strict: Deployment;
  beforeAll(async () => {
    [site, strict] = await Promise.all([
      Deployment.start({ env: { QUICKSILVER_ALLOW_PRIVATE_SOURCES: '1' } }),
      Deployment.start(),
    ]);
  });
  afterAll(async () => {
    await site?.[Symbol.asyncDispose]();
    await strict?.[Symbol.asyncDispose]();
  });

  const provision = async (on: Deployment, name: string, source: string): Promise<TaskView> => {
    const posted = await on.client.create(name, source);
    expect(posted.status).toBe(202);
    return on.client.settled(posted.body.task.id);
  };
  const nothingLeft = (on: Deployment) =>
    waitFor(() => leftovers(on.volume).length === 0, { what: 'nothing to be left over' });

  it('K020, K024: comes through cuts; the signature of the address is nowhere', async () => {
    const serve: SourceHandler = (request, response, n) =>
      serveBytes(request, response, { bytes, ...(n < 4 ? { cutAfter: 1500 } : {}) });
    await using server = await sourceServer(serve);
    const task = await provision(site, 'cut', server.url(`/a.hg?sig=${SECRET}`));
    expect(task).toMatchObject({ outcome: 'ready', problem: null });
    const mirror = await site.client.mirror('cut');
    expect(mirror.receipt).toMatchObject({
      source: { kind: 'bundle-url', url: server.url('/a.hg'), size: bytes.length, tries: 4, received: bytes.length },
    });
    const told = [mirror, await site.client.task(task.id), site.services.map((service) => service.tail(10_000))];
    expect(JSON.stringify(told)).not.toContain(SECRET);
    await nothingLeft(site);
  });

  it('K033: goes on after the writer was killed in the middle of the download', async () => {
    const half = Math.floor(bytes.length / 2);
    await using server = await sourceServer((request, response, n) => {
      if (n > 1) return serveBytes(request, response, { bytes });
      response.writeHead(200, { 'content-length': bytes.length, etag: `"v-${bytes.length}"` });
      return response.write(bytes.subarray(0, half));
    });
    const posted = await site.client.create('killed', server.url('/a.hg'));
    await waitFor(async () => {
      const { progress } = await site.client.task(posted.body.task.id);
      return progress?.stage === 'fetch' && JSON.stringify(progress.bytes).includes(String(half));
    });
    await site.writer.kill9();
    await site.writer.start();
    expect(await site.client.settled(posted.body.task.id)).toMatchObject({ outcome: 'ready' });
    expect(server.requests.map(({ headers }) => headers.range)).toEqual([undefined, `bytes=${half}-`]);
    await nothingLeft(site);
  });

  it('K022: says what the source answered, at which stage, and asks no more often than that takes', async () => {
    await using server = await sourceServer((request, response) => {
      if (request.url === '/page') response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>');
      else response.writeHead(Number(request.url?.slice(1))).end();
    });
    for (const [path, code] of [
      ['/page', 'HG_NOT_BUNDLE'],
      ['/404', 'HG_SOURCE_GONE'],
      ['/403', 'HG_SOURCE_DENIED'],
    ] as const) {
      const before = server.requests.length;
      const task = await provision(site, `refused${path}`, server.url(path));
      expect(task).toMatchObject({ outcome: 'failed', problem: { code, stage: 'fetch', retryable: false } });
      expect(server.requests.length - before).toBe(1);
    }
    await nothingLeft(site);
  });

  it('K101: a name that leads into the private network is refused by the writer, not connected to', async () => {
    await using server = await sourceServer((request, response) => serveBytes(request, response, { bytes }));
    const task = await provision(strict, 'inside', `http://localhost:${server.port}/a.hg`);
    expect(task).toMatchObject({ outcome: 'failed', problem: { code: 'HG_POLICY', class: 'policy', stage: 'fetch' } });
    expect(server.requests).toHaveLength(0);
    await nothingLeft(strict);
  });

  it('K090: cancelled while the source is silent, it is settled within 2 s and nothing is left', async () => {
    await using server = await sourceServer((_request, response) => {
      response.writeHead(200, { 'content-length': bytes.length }).write(bytes.subarray(0, 100));
    });
    const posted = await site.client.create('silent', server.url('/a.hg'));
    await waitFor(async () => (await site.client.task(posted.body.task.id)).progress?.stage === 'fetch');
    await site.client.cancel(posted.body.task.id);
    expect(await site.client.settled(posted.body.task.id, 2000)).toMatchObject({ outcome: 'cancelled' });
    await nothingLeft(site);
  });
});
