import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { type SourceHandler, serveBytes, sourceServer } from '@quicksilver/testing';
import { FETCH_CHECKPOINTS } from '../src/checkpoints.ts';
import { type CloneRequest, cloneToStaging } from '../src/clone.ts';
import { cancelTask, closeTask } from '../src/close.ts';
import type { MirrorProgress } from '../src/context.ts';
import { runJanitor } from '../src/janitor.ts';
import { cloneLocal } from '../src/local.ts';
import { type BundleUrl, sourceIdentity } from '../src/source.ts';
import { runEngine, startEngine } from './support/child.ts';
import { only, remains, type Scene, scene } from './support/scene.ts';
import { codeOf, context, task } from './support/volume.ts';

/** Everything quick, and the test's own server allowed. */
const FETCH = {
  allowPrivate: true,
  limits: { firstPauseMs: 1, longestPauseMs: 5, idleMs: 300, fruitless: 3 },
} as const;

const fromUrl = (s: Scene, ref: { id: string; number: number }, source: BundleUrl): CloneRequest => ({
  ...s.cloneRequest(ref),
  source,
  fetch: FETCH,
});
const serving =
  (bytes: Buffer, more: (n: number) => object = () => ({})): SourceHandler =>
  (request, response, n) =>
    serveBytes(request, response, { bytes, ...more(n) });

describe('a mirror from an address', () => {
  it('K020: is published though the connection breaks; the receipt says what came from where', async () => {
    using s = await scene();
    const bytes = readFileSync(s.bundle());
    const half = Math.floor(bytes.length / 2);
    await using server = await sourceServer(serving(bytes, (n) => (n === 1 ? { cutAfter: half } : {})));
    const ref = task(1);
    const source: BundleUrl = { kind: 'bundle-url', url: server.url('/a.hg?sig=s3same') };
    const stages: MirrorProgress[] = [];
    const ctx = context({ onProgress: (progress) => stages.push(progress) });
    const written = await cloneToStaging(s.volume, fromUrl(s, ref, source), ctx);
    expect(await readdir(s.volume.paths.folder('spool'))).toEqual([ref.id]);
    const settled = await closeTask(s.volume, s.closeRequest(ref, written, { source }), context());
    expect(settled.state).toBe('ready');
    expect(settled.receipt?.source).toEqual({
      kind: 'bundle-url',
      url: server.url('/a.hg'),
      queryLeftOut: true,
      size: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      digestMatched: false,
      validator: { kind: 'etag', value: `"v-${bytes.length}"` },
      tries: 2,
      received: bytes.length,
    });
    const receipt = await readFile(s.volume.paths.receipt(s.mirror, 1), 'utf8');
    expect(receipt).not.toContain('s3same');
    expect(receipt).not.toContain('/spool/');
    expect(await remains(s.volume)).toEqual(only(s.mirror, 1));
    const fetching = stages.filter(({ stage }) => stage === 'fetch').at(-1);
    expect(fetching?.bytes).toEqual({ done: bytes.length, total: bytes.length });
  });

  it('K033: the next attempt goes on with what a killed one fetched', async () => {
    using s = await scene();
    const bytes = readFileSync(s.bundle());
    const half = Math.floor(bytes.length / 2);
    const begun = Promise.withResolvers<void>();
    await using server = await sourceServer((request, response, n) => {
      if (n > 1) return serveBytes(request, response, { bytes });
      response.writeHead(200, { 'content-length': bytes.length, etag: `"v-${bytes.length}"` });
      return response.write(bytes.subarray(0, half), () => begun.resolve());
    });
    const ref = task(1);
    const request = {
      ...fromUrl(s, ref, { kind: 'bundle-url', url: server.url('/a.hg') }),
      fetch: { ...FETCH, limits: { ...FETCH.limits, idleMs: 20_000 } },
    };
    const engine = startEngine('clone', { root: s.volume.root, request });
    await begun.promise;
    await arrived(s, ref.id, half);
    engine.kill('SIGKILL');
    await engine.end;
    const written = await cloneToStaging(s.volume, request, context());
    expect(server.requests.map(({ headers }) => headers.range)).toEqual([undefined, `bytes=${half}-`]);
    const settled = await closeTask(s.volume, s.closeRequest(ref, written), context());
    expect(settled).toMatchObject({ state: 'ready', receipt: { source: { received: bytes.length } } });
    expect(await remains(s.volume)).toEqual(only(s.mirror, 1));
  });

  it.each(FETCH_CHECKPOINTS)('survives a kill at %s, and fetches nothing twice', async (checkpoint) => {
    using s = await scene();
    await using server = await sourceServer(serving(readFileSync(s.bundle())));
    const ref = task(1);
    const request = fromUrl(s, ref, { kind: 'bundle-url', url: server.url('/a.hg') });
    expect((await runEngine('clone', { root: s.volume.root, request }, { checkpoint })).signal).toBe('SIGKILL');
    const written = await cloneToStaging(s.volume, request, context());
    await closeTask(s.volume, s.closeRequest(ref, written), context());
    expect(server.requests).toHaveLength(1);
    expect(await remains(s.volume)).toEqual(only(s.mirror, 1));
  });

  it('an attempt that wakes up late finds its folder gone', async () => {
    using s = await scene();
    await using server = await sourceServer(serving(readFileSync(s.bundle())));
    const ref = task(1);
    const request = fromUrl(s, ref, { kind: 'bundle-url', url: server.url('/a.hg') });
    const late = startEngine(
      'clone',
      { root: s.volume.root, request },
      { checkpoint: 'fetch-spool-taken', signal: 'SIGSTOP' },
    );
    await late.at;
    const written = await cloneToStaging(s.volume, request, context());
    late.kill('SIGCONT');
    expect((await late.end).error?.code).toBe('HG_FENCED');
    const settled = await closeTask(s.volume, s.closeRequest(ref, written), context());
    expect(settled.state).toBe('ready');
    expect(await remains(s.volume)).toEqual(only(s.mirror, 1));
  });

  it('K090: cancelled while it fetches, it ends and leaves nothing', async () => {
    using s = await scene();
    const bytes = readFileSync(s.bundle());
    const begun = Promise.withResolvers<void>();
    await using server = await sourceServer((_request, response) => {
      response.writeHead(200, { 'content-length': bytes.length, etag: '"x"' });
      response.write(bytes.subarray(0, 100), () => begun.resolve());
    });
    const ref = task(1);
    const work = cloneToStaging(s.volume, fromUrl(s, ref, { kind: 'bundle-url', url: server.url('/a.hg') }), context());
    const end = codeOf(work);
    await begun.promise;
    await arrived(s, ref.id, 100);
    expect((await cancelTask(s.volume, { task: ref, mirror: s.mirror }, context())).state).toBe('cancelled');
    expect(await end).toBe('HG_CANCELLED');
    expect(await remains(s.volume)).toEqual([]);
  });

  it('K022, K029: what is no bundle, or another one, fails the task, and nothing stays', async () => {
    using s = await scene();
    const bytes = readFileSync(s.bundle());
    await using server = await sourceServer((request, response) => {
      if (request.url === '/a.hg') serveBytes(request, response, { bytes });
      else response.writeHead(request.url === '/page' ? 200 : 404, { 'content-type': 'text/html' }).end('<html>');
    });
    const wrong = `sha256:${'0'.repeat(64)}`;
    for (const [n, path, digest, code] of [
      [1, '/page', undefined, 'HG_NOT_BUNDLE'],
      [2, '/gone', undefined, 'HG_SOURCE_GONE'],
      [3, '/a.hg', wrong, 'HG_DIGEST'],
    ] as const) {
      const ref = task(n);
      const request = fromUrl(s, ref, { kind: 'bundle-url', url: server.url(path), digest });
      const fault = await cloneToStaging(s.volume, request, context()).catch((err: unknown) => err);
      expect(fault).toMatchObject({ code });
      const childProblem = { ...(fault as { code: string; message: string }), stage: 'fetch' };
      const settled = await closeTask(s.volume, s.closeRequest(ref, undefined, { childProblem }), context());
      expect(settled).toMatchObject({ state: 'failed', problem: { code, stage: 'fetch' } });
      expect(await remains(s.volume)).toEqual([]);
    }
  });

  it('K101: leads a service into no private network unless that is allowed', async () => {
    using s = await scene();
    await using server = await sourceServer(serving(readFileSync(s.bundle())));
    const { fetch: _allowed, ...request } = fromUrl(s, task(1), { kind: 'bundle-url', url: server.url('/a.hg') });
    expect(await codeOf(cloneToStaging(s.volume, request, context()))).toBe('HG_POLICY');
    expect(server.requests).toHaveLength(0);
  });

  it('the janitor removes downloads of tasks that are over or unknown, and leaves those under way', async () => {
    using s = await scene();
    const alive = task(1);
    const request = fromUrl(s, alive, { kind: 'bundle-url', url: 'http://127.0.0.1:1/a.hg' });
    expect(await codeOf(cloneToStaging(s.volume, request, context()))).toBe('HG_UNREACHABLE');
    const unknown = s.volume.paths.spool(randomUUID());
    await mkdir(join(unknown, '1'), { recursive: true });
    await writeFile(join(unknown, '1', 'data.00000000'), 'x');
    const signal = new AbortController().signal;
    expect(await runJanitor(s.volume, { graceMs: 0, signal })).toMatchObject({ spool: 1, problems: [] });
    expect(await readdir(s.volume.paths.folder('spool'))).toEqual([alive.id]);
    await cancelTask(s.volume, { task: alive, mirror: s.mirror }, context());
    expect(await readdir(s.volume.paths.folder('spool'))).toEqual([]);
  });

  it('K056: equal addresses are one source', () => {
    const of = (url: string): string => sourceIdentity({ kind: 'bundle-url', url });
    expect(of('HTTP://H:80/a%2db.hg')).toBe(of('http://h/a-b.hg'));
    expect(of('http://h/a%23b')).not.toBe(of('http://h/a'));
  });
});

describe('a local clone from an address', () => {
  it('leaves the repository and nothing beside it, whole or failed', async () => {
    using s = await scene();
    const bytes = readFileSync(s.bundle());
    await using server = await sourceServer((request, response, n) => {
      if (request.url === '/none.hg') response.writeHead(404).end();
      else serveBytes(request, response, { bytes, ...(n === 1 ? { cutAfter: 1000 } : {}) });
    });
    await mkdir(s.dir.join('out'));
    const signal = new AbortController().signal;
    const ask = (path: string) =>
      cloneLocal({
        source: { kind: 'bundle-url', url: server.url(path).replace('//', '//me:secret@') },
        dest: s.dir.join('out', 'repo'),
        settings: {},
        flush: false,
        fetch: FETCH,
        signal,
      });
    const fault = await ask('/none.hg').catch((err: unknown) => err);
    expect(fault).toMatchObject({ code: 'HG_SOURCE_GONE' });
    expect(await readdir(s.dir.join('out'))).toEqual([]);
    const receipt = await ask('/a.hg');
    expect(await readdir(s.dir.join('out'))).toEqual(['repo']);
    expect(receipt.write.fetch).toMatchObject({ size: bytes.length });
    expect(receipt.write.source.path).toBe(server.url('/a.hg').replace('//', '//me@'));
    expect(JSON.stringify(receipt)).not.toContain('secret');
  });
});

/** Waits until so many bytes lie in a task's spool. */
async function arrived(s: Scene, taskId: string, size: number): Promise<void> {
  const { waitFor } = await import('@quicksilver/testing');
  const home = s.volume.paths.spool(taskId);
  await waitFor(async () => {
    const files = await readdir(home, { recursive: true, withFileTypes: true });
    const data = files.find(({ name }) => name.startsWith('data.'));
    return data !== undefined && (await readFile(join(data.parentPath, data.name))).length >= size;
  });
}
