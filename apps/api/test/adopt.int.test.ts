import { randomUUID } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cloneToStaging, closeTask, Volume } from '@quicksilver/mirror';
import { fixturePath, serveBytes, sourceServer, startRedis, type TestRedis, tmpDir } from '@quicksilver/testing';
import { TestDataPlane } from './support/data-plane.ts';
import { ApiHome, accepted } from './support/harness.ts';

let redis: TestRedis;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

describe('a database that was lost', () => {
  it('is filled again from the receipts on the volume, and numbers go on', async () => {
    using dir = tmpDir('quicksilver-adopt');
    mkdirSync(dir.join('sources'));
    const path = dir.join('sources', 'basic.hg');
    cpSync(fixturePath('stream/basic.stream-v2.hg'), path);
    const volume = await Volume.init(dir.join('volume'), { name: 'main' });
    const lane = { task: { id: '7c1f9f4e-9d0c-4a57-8f86-0d6a3f9a3c01', number: 7 }, mirror: 'team/basic' };
    const source = { kind: 'bundle-file', path } as const;
    const signal = AbortSignal.timeout(20_000);
    const written = await cloneToStaging(volume, { ...lane, source, settings: {} }, { signal });
    const settled = await closeTask(
      volume,
      { ...lane, action: 'publish', written, cancelled: false, flush: false, verify: 'quick', source },
      { signal },
    );
    expect(settled).toMatchObject({ state: 'ready', generation: 1 });
    writeFileSync(dir.join('volume', 'mirrors', 'stray'), 'no link');

    await using home = new ApiHome(redis);
    await using workers = await TestDataPlane.start(redis);
    const env = { QUICKSILVER_VOLUMES: `main=${dir.join('volume')}`, QUICKSILVER_SOURCE_ROOTS: dir.join('sources') };
    const api = await home.start(env);
    expect(await api.mirror('team/basic')).toMatchObject({
      state: 'ready',
      generation: 1,
      path: dir.join('volume', 'mirrors', 'team', 'basic'),
      source: path,
      receipt: { mirror: 'team/basic', generation: 1 },
      task: null,
    });
    expect((await api.request('GET', '/v1/mirrors')).body).toMatchObject({ items: [{ name: 'team/basic' }] });
    const merged = await api.request('POST', '/v1/mirrors', { name: 'team/basic', source: path });
    expect(merged).toMatchObject({ status: 200, body: { outcome: 'merged', task: null } });
    const again = accepted(await api.request('POST', '/v1/mirrors/team%2Fbasic/clone'));
    expect(again.task).toMatchObject({ number: 8 });
    await api.settled(again.task.id);
    expect(workers.cloned[0]).toMatchObject({ task: { number: 8 } });
  });

  it('K024: takes addresses from receipts again, but not those whose query was left out', async () => {
    using dir = tmpDir('quicksilver-adopt');
    const bytes = readFileSync(fixturePath('stream/basic.stream-v2.hg'));
    await using server = await sourceServer((request, response) => serveBytes(request, response, { bytes }));
    const volume = await Volume.init(dir.join('volume'), { name: 'main' });
    const signal = AbortSignal.timeout(20_000);
    const publish = async (mirror: string, path: string) => {
      const lane = { task: { id: randomUUID(), number: 1 }, mirror };
      const source = { kind: 'bundle-url', url: server.url(path) } as const;
      const request = { ...lane, source, settings: {}, fetch: { allowPrivate: true } };
      const written = await cloneToStaging(volume, request, { signal });
      const close = { ...lane, source, written, cancelled: false, flush: false } as const;
      await closeTask(volume, { ...close, action: 'publish', verify: 'quick' }, { signal });
    };
    await publish('plain', '/a.hg');
    await publish('signed', '/a.hg?sig=s3same');
    await using home = new ApiHome(redis);
    const api = await home.start({ QUICKSILVER_VOLUMES: `main=${dir.join('volume')}` });
    expect(await api.mirror('plain')).toMatchObject({ state: 'ready', source: server.url('/a.hg') });
    expect(await api.mirror('signed')).toMatchObject({ state: 'ready', source: null });
  });

  it('goes on behind the volume when it is older than that', async () => {
    const problem = {
      code: 'HG_FENCED',
      class: 'lane',
      stage: 'plan',
      message: 'a later task has the lane of this mirror',
      where: { task: 1, lane: 12 },
      retryable: false,
      advice: 'look there',
    };
    await using home = new ApiHome(redis);
    await using _workers = await TestDataPlane.start(redis, {
      close: async ({ task }) => (task.number > 12 ? {} : { state: 'failed', problem }),
    });
    const api = await home.start();
    const first = await api.create('restored');
    expect(await api.settled(first.task.id)).toMatchObject({ outcome: 'failed', problem: { code: 'HG_FENCED' } });
    const again = accepted(await api.request('POST', '/v1/mirrors/restored/clone'));
    expect(await api.settled(again.task.id)).toMatchObject({ outcome: 'ready', number: 13 });
  });
});
