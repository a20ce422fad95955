import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  fixturePath,
  HG_ENV,
  type HgSession,
  newestHg,
  realHg,
  tmpDir,
  treeHash,
  waitFor,
  writeSyntheticBundle,
} from '@quicksilver/testing';
import type { SseEvent } from '../harness/client.ts';
import { Deployment } from '../harness/deployment.ts';
import { heartbeats } from '../harness/redis-view.ts';
import { repositoryAt, unbundled } from '../harness/side-by-side.ts';
import { leftovers, mirrorOnDisk } from '../harness/volume-view.ts';

describe('the whole path over HTTP', () => {
  let site: Deployment;
  let session: HgSession;
  beforeAll(async () => {
    session = await newestHg().session();
    site = await Deployment.start();
  });
  afterAll(async () => {
    await session[Symbol.asyncDispose]();
    await site?.[Symbol.asyncDispose]();
  });

  /** Posts a mirror and waits until it is ready. */
  const provision = async (name: string, source: string) => {
    const posted = await site.client.create(name, source);
    expect(posted.status).toBe(202);
    const task = await site.client.settled(posted.body.task.id);
    expect(task).toMatchObject({ outcome: 'ready', problem: null });
    return task;
  };

  it('takes a bundle to a mirror that hg serves, and says so at each step', async () => {
    const source = site.source(fixturePath('stream/basic.stream-v2.hg'));
    const posted = await site.client.create('team/basic', source, { verify: 'quick' });
    expect(posted.status).toBe(202);
    expect(posted.body).toMatchObject({ outcome: 'created', mirror: { name: 'team/basic' } });
    expect(['wanted', 'admitted']).toContain(posted.body.task.state);

    const events: SseEvent[] = [];
    for await (const event of site.client.events(posted.body.task.id, AbortSignal.timeout(20_000))) events.push(event);
    expect(JSON.stringify(events.at(-1)?.data)).toContain('ready');

    const mirror = await site.client.mirror('team/basic');
    expect(mirror).toMatchObject({ state: 'ready', generation: 1, problem: null });
    const link = join(site.volume, 'mirrors', 'team', 'basic');
    expect(mirror.path).toBe(link);
    expect(realpathSync(link)).toBe(realpathSync(join(site.volume, 'generations', 'team%2Fbasic', '1')));
    using dir = tmpDir('reference');
    const reference = await unbundled(session, source, { path: dir.join('r') });
    expect(await repositoryAt(session, link).facts()).toEqual(await reference.facts());
    expect(await session.run(['-R', link, 'verify'])).toMatchObject({ code: 0, stderr: '' });
    await waitFor(() => leftovers(site.volume).length === 0, { what: 'nothing to be left over' });
  });

  it('keeps a receipt with the generation, and shows it', async () => {
    const source = site.source(fixturePath('stream/fmt-default.stream-v2.hg'));
    const task = await provision('receipt', source);
    const { receipt } = await site.client.mirror('receipt');
    const onDisk = mirrorOnDisk(site.volume, 'receipt');
    expect(onDisk.receipts.get(1)).toEqual(receipt);
    expect(JSON.stringify(receipt)).toContain(task.id);
  });

  it.each(['basic-nonpub', 'fmt-bookstore', 'fmt-tree', 'fmt-nogd', 'oddpaths', 'secret-allowed'])(
    'publishes what hg itself would make of it: %s',
    async (name) => {
      const source = site.source(fixturePath(`stream/${name}.stream-v2.hg`));
      await provision(`fixtures/${name}`, source);
      using dir = tmpDir('reference');
      const reference = await unbundled(session, source, { path: dir.join('r') });
      const mirror = repositoryAt(session, join(site.volume, 'mirrors', 'fixtures', name));
      expect(await mirror.facts()).toEqual(await reference.facts());
    },
  );

  it('K006: an empty repository becomes an empty mirror that can be pulled into', async () => {
    const empty = writeSyntheticBundle(join(site.sources, 'empty.hg'), { files: 0, fileSize: 0, changesets: 0 });
    for (const source of [empty.path, site.source(fixturePath('hostile/s2-filecount-zero.hg'))]) {
      const name = `empty/${source.includes('zero') ? 'zero' : 'none'}`;
      await provision(name, source);
      const repository = repositoryAt(session, join(site.volume, 'mirrors', name));
      expect(await repository.hg('verify')).toMatchObject({ code: 0 });
      using dir = tmpDir('pull');
      const full = await unbundled(session, fixturePath('stream/tiny.stream-v2.hg'), { path: dir.join('full') });
      await session.run(['clone', repository.path, dir.join('copy')]);
      const copy = repositoryAt(session, dir.join('copy'));
      expect(await copy.hg('pull', full.path)).toMatchObject({ code: 0 });
    }
  });

  it('K048: names that look like control files arrive as what they are', async () => {
    const path = join(site.volume, 'mirrors', 'fixtures', 'oddpaths');
    expect(await session.run(['-R', path, 'verify'])).toMatchObject({ code: 0, stderr: '' });
  });

  it.each(realHg().map((hg) => ({ version: hg.version, hg })))(
    'never shows hg $version anything but a whole generation while the next is published',
    async ({ version, hg }) => {
      const name = `swap-${version.replaceAll('.', '-')}`;
      const [first, second] = ['one', 'two'].map((label, i) =>
        writeSyntheticBundle(join(site.sources, `${name}-${label}.hg`), { files: 40 + 40 * i, fileSize: 100, label }),
      );
      if (!first || !second) throw new Error('no bundles');
      await provision(name, first.path);
      const link = join(site.volume, 'mirrors', name);
      await using reader = await hg.session();
      const tips = new Set<string>();
      let seen = 0;
      // Every command must see one generation, never a mixture or nothing.
      const look = async () => {
        const { code, stdout, stderr } = await reader.run(['-R', link, 'log', '-r', 'tip', '-T', '{node}']);
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
        tips.add(stdout);
        seen += 1;
      };
      let published = false;
      const publishing = (async () => {
        for (const [i, { path }] of [second, first, second].entries()) {
          await site.client.patiently('PATCH', `/v1/mirrors/${name}`, { source: path });
          const posted = await site.client.clone(name);
          expect(await site.client.settled(posted.body.task.id)).toMatchObject({ outcome: 'ready', generation: i + 2 });
        }
      })().finally(() => {
        published = true;
      });
      while (!published) await look();
      await publishing;
      await look();
      expect(seen).toBeGreaterThan(3);
      expect(tips).toEqual(new Set([first.tip, second.tip]));
      // The superseded one stays at its own path for whoever opened it.
      const old = join(site.volume, 'generations', name, '1');
      expect(await session.run(['-R', old, 'verify'])).toMatchObject({ code: 0 });
      expect(mirrorOnDisk(site.volume, name)).toMatchObject({ shown: 4, generations: [1, 2, 3, 4] });
    },
  );

  it('a command under way stays on the generation that it opened', async () => {
    const [first, second] = ['one', 'two'].map((label) =>
      writeSyntheticBundle(join(site.sources, `held-${label}.hg`), { files: 60, fileSize: 8000, label, folder: label }),
    );
    if (!first || !second) throw new Error('no bundles');
    await provision('held', first.path);
    const link = join(site.volume, 'mirrors', 'held');
    const reference = await session.run(['cat', '-r', 'tip', 'one'], {
      cwd: join(site.volume, 'generations', 'held', '1'),
    });
    // Half a megabyte into a pipe of 64 KiB that nobody reads yet: hg waits in the middle of its work.
    const slow = spawn(newestHg().path, ['cat', '-r', 'tip', 'one'], {
      cwd: link,
      env: { ...process.env, ...HG_ENV },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    await once(slow.stdout, 'readable');
    await site.client.patiently('PATCH', '/v1/mirrors/held', { source: second.path });
    const posted = await site.client.clone('held');
    expect(await site.client.settled(posted.body.task.id)).toMatchObject({ outcome: 'ready', generation: 2 });
    expect((await session.run(['-R', link, 'log', '-r', 'tip', '-T', '{node}'])).stdout).toBe(second.tip);
    expect(slow.exitCode).toBeNull();
    const [text, [code]] = await Promise.all([readText(slow.stdout), once(slow, 'exit')]);
    expect(code).toBe(0);
    expect(text.length).toBe(60 * 8000);
    expect(text === reference.stdout).toBe(true);
  });

  it('K081, K060: a request is always told what became of it, and a wanted clone really runs', async () => {
    const source = site.source(fixturePath('stream/tiny.stream-v2.hg'));
    const first = await site.client.create('again', source);
    const same = await site.client.create('again', source);
    expect(same.status).toBe(200);
    expect(same.body).toMatchObject({ outcome: 'merged', task: { id: first.body.task.id } });
    const other = await site.client.create('again', site.source(fixturePath('stream/meta.stream-v2.hg')));
    expect(other.status).toBe(409);
    await site.client.settled(first.body.task.id);
    const wanted = await Promise.all(Array.from({ length: 10 }, () => site.client.clone('again')));
    const outcomes = wanted.map(({ body }) => body.outcome).sort();
    expect(outcomes.filter((outcome) => outcome === 'created').length).toBeGreaterThanOrEqual(1);
    for (const id of new Set(wanted.map(({ body }) => body.task.id))) {
      expect(await site.client.settled(id)).toMatchObject({ outcome: 'ready' });
    }
    const made = new Set(wanted.map(({ body }) => body.task.id)).size;
    expect((await site.client.mirror('again')).generation).toBe(1 + made);
  });

  it('K057, K056: names and paths with signs in them mean themselves', async () => {
    const tiny = fixturePath('stream/tiny.stream-v2.hg');
    const names = ['Tests', 'tests/test1', 'with blank/x', 'con', 'a#b', 'a%23b', 'a+b', 'é/ü'];
    await Promise.all(names.map((name, i) => provision(name, site.source(tiny, `b ${i} # %23 + é.hg`))));
    for (const name of names) {
      const path = join(site.volume, 'mirrors', name);
      expect(await session.run(['-R', path, 'log', '-T', '{rev}'])).toMatchObject({ code: 0, stdout: '10' });
      expect(await site.client.mirror(name)).toMatchObject({ name, state: 'ready', path });
    }
    for (const bad of ['..', 'a/../b', '/etc', '.hg', 'a//b', '', 'a\nb', '-x']) {
      expect((await site.client.create(bad, site.source(tiny))).status).toBe(400);
    }
    const below = await site.client.create('Tests/below', site.source(tiny));
    expect(below.status).toBe(409);
  });

  it('retires a mirror: link, generations and emptied folders go', async () => {
    const source = site.source(fixturePath('stream/tiny.stream-v2.hg'));
    await provision('gone/deep/er', source);
    const answer = await site.client.retire('gone/deep/er');
    expect([200, 202]).toContain(answer.status);
    expect(await site.client.settled(answer.body.task.id)).toMatchObject({ outcome: 'ready' });
    expect(mirrorOnDisk(site.volume, 'gone/deep/er')).toMatchObject({ shown: undefined, generations: [] });
    expect(await site.client.mirror('gone/deep/er')).toMatchObject({ state: 'retired' });
    expect(() => realpathSync(join(site.volume, 'mirrors', 'gone'))).toThrow(/ENOENT/);
    // The name is free again.
    await provision('gone', source);
  });

  it('refuses what it may not or cannot do, as a problem document', async () => {
    const outside = await site.client.create('outside', '/etc/passwd');
    expect(outside.status).toBe(403);
    expect(outside.headers.get('content-type')).toContain('application/problem+json');
    // A login has no place in a source; another kind of source is to come.
    const answers = [
      await site.client.create('login', 'https://user:pa55word@example.org/repo'),
      await site.client.create('later', 'ssh://user:pa55word@example.org/repo'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 422]);
    expect(JSON.stringify(answers.map(({ body }) => body))).not.toContain('pa55word');
    expect((await site.client.request('GET', '/v1/mirrors/nobody')).status).toBe(404);
  });

  it('changes the concurrency of a queue in the running workers', async () => {
    const seen = async () => (await heartbeats(site.redis)).find(({ kind }) => kind === 'clone')?.concurrency;
    const before = await waitFor(seen, { what: 'a heartbeat' });
    const queue = '/v1/queues/clone@main/concurrency';
    expect((await site.client.request('PUT', queue, { perWorker: before + 3 })).status).toBe(200);
    await waitFor(async () => (await seen()) === before + 3, { what: 'the new number in the heartbeat' });
    expect((await site.client.request('PUT', queue, { perWorker: null })).status).toBe(200);
    await waitFor(async () => (await seen()) === before, { what: 'the configured number again' });
    expect((await site.client.request('PUT', '/v1/queues/nothing@main/concurrency', { perWorker: 1 })).status).toBe(
      404,
    );
  });

  it('serves health, metrics and its own description', async () => {
    for (const service of site.services) {
      for (const path of ['/healthz', '/readyz', '/metrics']) {
        const answer = await fetch(`${service.url}${path}`);
        expect({ app: service.app, path, status: answer.status }).toMatchObject({ status: 200 });
      }
    }
    expect((await fetch(`${site.api.url}/docs`)).status).toBe(200);
  });

  it('writes the same bytes each time', async () => {
    const source = site.source(fixturePath('histories/cinnabar.stream-v2.hg'));
    await provision('twice', source);
    const again = await site.client.clone('twice');
    expect(await site.client.settled(again.body.task.id)).toMatchObject({ outcome: 'ready', generation: 2 });
    const [one, two] = [1, 2].map((n) => join(site.volume, 'generations', 'twice', String(n)));
    expect(await treeHash(one ?? '')).toBe(await treeHash(two ?? ''));
    expect(readFileSync(join(two ?? '', '.hg', 'requires'), 'utf8')).not.toBe('');
  });
});
