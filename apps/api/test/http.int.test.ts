import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startRedis, type TestRedis, type TmpDir, tmpDir } from '@quicksilver/testing';
import { z } from 'zod';
import { MirrorList, TaskList } from '../src/http/schemas.ts';
import { TestDataPlane } from './support/data-plane.ts';
import { ApiHome, answerOf, problem, type RunningApi, source } from './support/harness.ts';

let redis: TestRedis;
let home: ApiHome;
let api: RunningApi;
let sources: TmpDir;
beforeAll(async () => {
  sources = tmpDir('quicksilver-sources');
  mkdirSync(sources.join('repository'));
  redis = await startRedis();
  home = new ApiHome(redis);
  api = await home.start({ QUICKSILVER_SOURCE_ROOTS: `/srv/bundles:${sources.path}` });
});
afterAll(async () => {
  await home[Symbol.asyncDispose]();
  await redis.stop();
  sources[Symbol.dispose]();
});

const post = (body: unknown) => api.request('POST', '/v1/mirrors', body);
const raw = async (method: string, path: string, init: RequestInit = {}) =>
  answerOf(await fetch(`${api.url}${path}`, { method, ...init }));

describe('problem documents', () => {
  it('are the same from release to release', async () => {
    const json = { 'content-type': 'application/json' };
    const unknown = '00000000-0000-4000-8000-000000000000';
    await api.create('taken');
    const cases = {
      'no such route': await raw('GET', '/v1/nothing'),
      'name not encoded': await raw('GET', '/v1/mirrors/a/b'),
      'no such method': await raw('PUT', '/v1/mirrors/taken', { headers: json, body: '{}' }),
      'no such mirror': await raw('GET', '/v1/mirrors/nobody'),
      'no such mirror to clone': await raw('POST', '/v1/mirrors/nobody/clone'),
      'no such mirror to retire': await raw('DELETE', '/v1/mirrors/nobody'),
      'no such task': await raw('GET', `/v1/tasks/${unknown}`),
      'no such task to cancel': await raw('DELETE', `/v1/tasks/${unknown}`),
      'no such task to follow': await raw('GET', `/v1/tasks/${unknown}/events`),
      'task id is no id': await raw('GET', '/v1/tasks/42'),
      'no such queue': await raw('GET', '/v1/queues/clone%40elsewhere/concurrency'),
      'bad encoding in address': await raw('GET', '/v1/mirrors/%zz'),
      'body is no JSON': await raw('POST', '/v1/mirrors', { headers: json, body: '{"name":' }),
      'no body': await raw('POST', '/v1/mirrors'),
      'a form': await raw('POST', '/v1/mirrors', { body: new URLSearchParams({ name: 'a', source: '/a' }) }),
      'body too large': await raw('POST', '/v1/mirrors', { headers: json, body: `"${'x'.repeat(200_000)}"` }),
      'a page of another site': await raw('POST', '/v1/mirrors/taken/clone', {
        headers: { 'sec-fetch-site': 'cross-site' },
      }),
      'empty body': await post({}),
      'unknown field': await post({ name: 'a', source: source('a'), sauce: 1 }),
      'wrong types': await post({ name: 1, source: null, verify: 'most', settings: { writers: 0, memory: 1 } }),
      'bad name': await post({ name: '../etc', source: source('a') }),
      'unknown volume': await post({ name: 'a', source: source('a'), volume: 'spare' }),
      'relative path': await post({ name: 'a', source: 'bundle.hg' }),
      'outside of roots': await post({ name: 'a', source: '/srv/bundles/../secrets' }),
      'a directory': await post({ name: 'a', source: `${sources.path}/repository/` }),
      'another source': await post({ name: 'taken', source: source('b') }),
      'name below another': await post({ name: 'taken/more', source: source('a') }),
      'nothing to change': await api.request('PATCH', '/v1/mirrors/taken', {}),
      'bad limit': await raw('GET', '/v1/mirrors?limit=1000'),
      'bad cursor': await raw('GET', '/v1/mirrors?cursor=nonsense'),
      'cursor of another list': await raw('GET', '/v1/tasks?cursor=ImEi'),
      'unknown state': await raw('GET', '/v1/mirrors?state=lost'),
      'bad concurrency': await api.request('PUT', '/v1/queues/clone%40main/concurrency', { perWorker: 0 }),
    };
    for (const answer of Object.values(cases)) {
      expect(answer.status).toBe(problem(answer).status);
      expect(answer.type).toBe('application/problem+json; charset=utf-8');
      expect(problem(answer).advice).not.toBe('');
    }
    const documents = Object.entries(cases).map(([name, answer]) => [name, normal(answer.body)]);
    expect(Object.fromEntries(documents)).toMatchSnapshot();
  });

  it('K013: what is not supported yet is refused before anything is queued, with what is allowed', async () => {
    for (const [body, allowed] of [
      [{ source: source('a'), verify: 'full' }, ['quick']],
      [{ source: source('a'), verify: 'sample' }, ['quick']],
      [
        { source: 'ssh://example.org/repo' },
        ['the absolute path of a stream bundle', 'its http:// or https:// address'],
      ],
    ] as const) {
      const answer = problem(await post({ name: 'later', ...body }));
      expect(answer).toMatchObject({ status: 422, code: 'HG_NOT_YET', errors: [{ allowed }] });
    }
    expect((await api.request('GET', '/v1/mirrors/later')).status).toBe(404);
    const change = await api.request('PATCH', '/v1/mirrors/taken', { verify: 'full' });
    expect(problem(change).code).toBe('HG_NOT_YET');
  });

  it('K103, K105: never repeat a password or take an option for an address', async () => {
    for (const from of [
      'https://user:hunter2@example.org/repo?token=hunter2',
      'https://user:hunter2@example.org:99999/',
      'https:user:hunter2@example.org',
      'ftp://user:hunter2@example.org/',
      'ssh://-oProxyCommand=hunter2/repo',
      '--config=hunter2',
    ]) {
      const answer = await post({ name: 'secret', source: from });
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(JSON.stringify(answer.body)).not.toContain('hunter2');
    }
  });

  it('K101: say at once that a plain address lies in a private network, and take it when that is allowed', async () => {
    const from = 'http://169.254.169.254/latest/x.hg';
    const refused = problem(await post({ name: 'inside', source: from }));
    expect(refused).toMatchObject({ status: 403, code: 'HG_POLICY' });
    expect(refused.advice).toContain('QUICKSILVER_ALLOW_PRIVATE_SOURCES');
    await using open = new ApiHome(redis);
    const service = await open.start({ QUICKSILVER_ALLOW_PRIVATE_SOURCES: '1' });
    expect((await service.create('inside', from)).mirror.source).toBe(from);
  });

  it('K029: a digest comes with the address it is of, and in a form that can be checked', async () => {
    const from = 'https://example.org/x.hg';
    const digest = `sha256:${'0a'.repeat(32)}`;
    for (const body of [
      { source: from, digest: 'md5:00' },
      { source: from, digest: 'sha256:00' },
      { source: source('a'), digest },
    ]) {
      expect(problem(await post({ name: 'digest', ...body }))).toMatchObject({ status: 400, code: 'HG_USAGE' });
    }
    expect(problem(await api.request('PATCH', '/v1/mirrors/taken', { digest })).status).toBe(400);
    expect((await post({ name: 'digest', source: from, digest })).status).toBe(202);
    expect((await post({ name: 'digest', source: from, digest })).status).toBe(200);
    expect((await post({ name: 'digest', source: from })).status).toBe(409);
  });

  it('name the setting when no local path is allowed', async () => {
    await using closed = new ApiHome(redis);
    const strict = await closed.start({ QUICKSILVER_SOURCE_ROOTS: '' });
    const answer = problem(await strict.request('POST', '/v1/mirrors', { name: 'a', source: '/a.hg' }));
    expect(answer).toMatchObject({ status: 403, code: 'HG_POLICY' });
    expect(answer.detail).toContain('QUICKSILVER_SOURCE_ROOTS');
  });
});

describe('names and paths', () => {
  it('K056: equal addresses are one source, different ones are not; K024: a signature is not told', async () => {
    const first = await api.create('addressed', 'HTTPS://Example.org:443/a b.hg?sig=s3same');
    expect(first.mirror.source).toBe('https://example.org/a%20b.hg?...');
    expect(first.task).toMatchObject({ source: 'https://example.org/a%20b.hg?...' });
    const again = await post({ name: 'addressed', source: 'https://example.org/x/../a%20b.hg?sig=s3same' });
    expect(again.status).toBe(200);
    expect((await post({ name: 'addressed', source: 'https://example.org/a+b.hg?sig=s3same' })).status).toBe(409);
    for (const path of ['/v1/mirrors/addressed', '/v1/mirrors', '/v1/tasks', `/v1/tasks/${first.task.id}`]) {
      expect(JSON.stringify((await api.request('GET', path)).body)).not.toContain('s3same');
    }
  });

  it('K057: names survive the round trip through addresses', async () => {
    const names = [
      'mozilla/central',
      'A',
      'a',
      'con',
      'with blank',
      'hash#mark',
      '100%25',
      'plus+minus',
      'Ünï/cödé',
      "it's",
      'a?b',
    ];
    for (const name of names) {
      await api.create(name);
      expect(await api.mirror(name)).toMatchObject({ name });
      const changed = await api.request('PATCH', `/v1/mirrors/${encodeURIComponent(name)}`, { source: source('z') });
      expect(changed.body).toMatchObject({ name, source: source('z') });
    }
    for (const name of [
      '',
      '.',
      '..',
      'a/../b',
      '/a',
      'a/',
      'a//b',
      '.hg',
      'a\u0000b',
      'a\nb',
      '-x',
      'x'.repeat(300),
    ]) {
      expect(problem(await post({ name, source: source('a') }))).toMatchObject({ code: 'HG_USAGE' });
    }
  });

  it('no name is a path above or below another, by segments', async () => {
    await api.create('seg/one');
    for (const name of ['seg', 'seg/one/two']) {
      expect(problem(await post({ name, source: source('a') }))).toMatchObject({
        code: 'API_NAME_TAKEN',
        outcome: 'refused',
      });
    }
    for (const name of ['segment', 'seg/on', 'seg/one-more', 'seg/one.x']) await api.create(name);
  });

  it('K056: a path is taken literally, and equal forms of it are one source', async () => {
    await api.create('odd', '/srv/bundles/a b#c%23+ü.hg');
    expect(await api.mirror('odd')).toMatchObject({ source: '/srv/bundles/a b#c%23+ü.hg' });
    const same = await post({ name: 'odd', source: '/srv/bundles//x/../a b#c%23+ü.hg/' });
    expect(same.body).toMatchObject({ outcome: 'merged' });
    expect(problem(await post({ name: 'odd', source: '/srv/bundles/a b#c#+ü.hg' })).code).toBe('API_MIRROR_EXISTS');
  });
});

describe('lists', () => {
  it('are paged by cursors: each item once, in order, whatever is added meanwhile', async () => {
    await using own = new ApiHome(redis);
    const fresh = await own.start();
    for (const name of ['m3', 'm1', 'm5', 'm2', 'm4']) await fresh.create(name);
    const names: string[] = [];
    let path = '/v1/mirrors?limit=2';
    for (let page = 0; page < 3; page += 1) {
      const { items, next } = MirrorList.parse((await fresh.request('GET', path)).body);
      names.push(...items.map(({ name }) => name));
      if (page === 0) await fresh.create('m0');
      path = `/v1/mirrors?limit=2&cursor=${next}`;
      expect(next === null).toBe(page === 2);
    }
    expect(names).toEqual(['m1', 'm2', 'm3', 'm4', 'm5']);
    const first = TaskList.parse((await fresh.request('GET', '/v1/tasks?limit=4')).body);
    expect(first.items.map(({ mirror }) => mirror)).toEqual(['m0', 'm4', 'm2', 'm5']);
    await fresh.create('m6');
    const second = TaskList.parse((await fresh.request('GET', `/v1/tasks?limit=4&cursor=${first.next}`)).body);
    expect(second.items.map(({ mirror }) => mirror)).toEqual(['m1', 'm3']);
    expect(second.next).toBeNull();
    const one = TaskList.parse((await fresh.request('GET', '/v1/tasks?mirror=m3&state=settled')).body);
    expect(one.items).toEqual([]);
  });
});

describe('queues, metrics and the page', () => {
  it('K085: concurrency is set per worker and over all, and the effective numbers can be read', async () => {
    const path = '/v1/queues/clone%40main/concurrency';
    expect((await api.request('GET', path)).body).toMatchObject({ wanted: { perWorker: null, global: null } });
    await using workers = await TestDataPlane.start(redis);
    for (let count = 0; count < 4; count += 1) await workers.heartbeat('clone', `w${count}`, 5);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const set = await api.request('PUT', path, { perWorker: 5, global: 10 });
    expect(set.status).toBe(200);
    expect(set.body).toMatchObject({
      wanted: { perWorker: 5, global: 10 },
      effective: { global: 10, total: 10, active: 0 },
    });
    const only = await api.request('PUT', path, { global: null });
    expect(only.body).toMatchObject({ wanted: { perWorker: 5, global: null }, effective: { global: null, total: 20 } });
    expect(await redis.command('HGET', 'quicksilver:concurrency', 'clone@main')).toBe('5');
  });

  it('shows tasks, queues, durations and admission as metrics', async () => {
    const { body } = await api.request('GET', '/metrics');
    for (const name of [
      'quicksilver_tasks{state="wanted"',
      'quicksilver_mirrors{state="working"',
      'quicksilver_queue_jobs{queue="close@main"',
      'quicksilver_tasks_admitted_total{action="clone"',
      'quicksilver_task_waiting_seconds_bucket{',
      'quicksilver_event_clients',
      'quicksilver_admission_age_seconds',
    ]) {
      expect(body).toContain(name);
    }
  });

  it('describes every route with schemas, examples and its problems, and serves the page', async () => {
    const page = await fetch(`${api.url}/docs`);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('Quicksilver API');
    const document = OpenApi.parse((await api.request('GET', '/docs/openapi.json')).body);
    const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(routes.sort()).toMatchSnapshot();
    expect(document.paths['/readyz']?.get).toMatchObject({ summary: 'Whether work gets done, or why not' });
    for (const [path, methods] of Object.entries(document.paths).filter(([path]) => path.startsWith('/v1/'))) {
      for (const [method, route] of Object.entries(methods)) {
        const where = `${method} ${path}`;
        expect({ where, summary: route.summary }).toMatchObject({ where, summary: expect.any(String) });
        for (const [status, answer] of Object.entries(route.responses)) {
          if (status === '204') continue;
          for (const { schema } of Object.values(answer.content ?? {})) {
            const name = schema.$ref?.replace('#/components/schemas/', '');
            if (name)
              expect({ where, name, example: document.components.schemas[name]?.example }).toMatchObject({
                example: expect.anything(),
              });
          }
          expect({ where, status, content: Object.keys(answer.content ?? {}) }).toMatchObject({
            content: [expect.any(String)],
          });
        }
        if (['post', 'put', 'patch'].includes(method) && !path.endsWith('/clone')) {
          expect({ where, body: route.requestBody?.content['application/json']?.schema }).toMatchObject({
            body: { properties: expect.anything(), example: expect.anything() },
          });
        }
        for (const name of path.match(/\{(\w+)\}/g) ?? []) {
          expect({ where, parameters: route.parameters?.map((each) => `{${each.name}}`) }).toMatchObject({
            parameters: expect.arrayContaining([name]),
          });
        }
      }
    }
  });
});

const Content = z.record(z.string(), z.object({ schema: z.looseObject({ $ref: z.string().optional() }) }));
const OpenApi = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        summary: z.string().optional(),
        parameters: z.array(z.object({ name: z.string() })).optional(),
        requestBody: z.object({ content: Content }).optional(),
        responses: z.record(z.string(), z.object({ content: Content.optional() })),
      }),
    ),
  ),
  components: z.object({ schemas: z.record(z.string(), z.looseObject({ example: z.unknown().optional() })) }),
});

/** Without what differs between two runs, and without advice, whose words may become better. */
function normal(body: unknown): unknown {
  const { advice: _, ...rest } = JSON.parse(JSON.stringify(body).replaceAll(sources.path, '<sources>'));
  return rest;
}
