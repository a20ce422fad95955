import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startRedis, type TestRedis } from '@quicksilver/testing';
import { gate, TestDataPlane } from './support/data-plane.ts';
import { ApiHome, accepted, problem, source } from './support/harness.ts';

let redis: TestRedis;
let home: ApiHome;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());
beforeEach(() => {
  home = new ApiHome(redis);
});
afterEach(async () => {
  await home[Symbol.asyncDispose]();
  await redis.flush();
});

describe('the life of a mirror', () => {
  it('goes from POST to ready, with receipt, path and history', async () => {
    await using workers = await TestDataPlane.start(redis);
    const api = await home.start();
    const answer = await api.request('POST', '/v1/mirrors', { name: 'team/one', source: source('one') });
    expect(answer.status).toBe(202);
    const { outcome, mirror, task } = accepted(answer);
    expect({ outcome, mirror: mirror.state, task: task.state }).toEqual({
      outcome: 'created',
      mirror: 'wanted',
      task: 'wanted',
    });
    const settled = await api.settled(task.id);
    expect(settled).toMatchObject({ outcome: 'ready', generation: 1, flow: 1, number: 1, problem: null });
    expect(settled.history.map(({ type }) => type)).toEqual(['created', 'admitted', 'settled']);
    expect(await api.mirror('team/one')).toMatchObject({
      state: 'ready',
      generation: 1,
      path: '/vol/mirrors/team/one',
      receipt: { v: 1, generation: 1 },
      source: source('one'),
      problem: null,
      lastSuccess: settled.settledAt,
      task: { id: task.id, state: 'settled', outcome: 'ready' },
    });
    expect(workers.cloned[0]).toMatchObject({
      task: { id: task.id, number: 1, flow: 1 },
      mirror: { name: 'team/one' },
      volume: 'main',
      source: { kind: 'bundle-file', path: source('one') },
    });
  });

  it('runs close also when the clone fails for good, and shows why', async () => {
    const fault = {
      code: 'HG_CORRUPT',
      class: 'format',
      stage: 'write',
      message: 'damaged',
      where: { offset: 7 },
      retryable: false,
      advice: 'make it again',
    };
    await using workers = await TestDataPlane.start(redis, {
      clone: async (_data, job) => {
        job.opts.attempts = 1;
        throw new Error('broken');
      },
      close: async () => ({ state: 'failed', problem: fault }),
    });
    const api = await home.start();
    const { task } = await api.create('broken');
    expect(await api.settled(task.id)).toMatchObject({ outcome: 'failed', problem: fault, generation: null });
    expect(workers.closed).toHaveLength(1);
    expect(await api.mirror('broken')).toMatchObject({ state: 'failed', generation: null, problem: fault });
  });

  it('K121: retry, re-clone and a new address work after a failed first clone', async () => {
    let good = false;
    await using workers = await TestDataPlane.start(redis, { close: async () => (good ? {} : { state: 'failed' }) });
    const api = await home.start();
    const first = await api.create('moved');
    await api.settled(first.task.id);
    const changed = await api.request('PATCH', '/v1/mirrors/moved', { source: source('new') });
    expect(changed).toMatchObject({ status: 200, body: { source: source('new'), state: 'failed' } });
    good = true;
    const again = accepted(await api.request('POST', '/v1/mirrors/moved/clone'));
    expect(again.outcome).toBe('created');
    expect(await api.settled(again.task.id)).toMatchObject({ outcome: 'ready', number: 2, source: source('new') });
    expect(workers.cloned.at(-1)?.source).toEqual({ kind: 'bundle-file', path: source('new') });
    expect(await api.mirror('moved')).toMatchObject({ state: 'ready', problem: null });
  });

  it('keeps serving the old generation when a re-clone fails, and says so', async () => {
    let good = true;
    await using _workers = await TestDataPlane.start(redis, { close: async () => (good ? {} : { state: 'failed' }) });
    const api = await home.start();
    await api.settled((await api.create('kept')).task.id);
    good = false;
    const again = accepted(await api.request('POST', '/v1/mirrors/kept/clone'));
    expect(await api.settled(again.task.id)).toMatchObject({ outcome: 'failed', problem: { code: 'HG_INTERNAL' } });
    expect(await api.mirror('kept')).toMatchObject({
      state: 'ready',
      generation: 1,
      path: '/vol/mirrors/kept',
      problem: { code: 'HG_INTERNAL' },
    });
  });

  it('retires a mirror, frees its name, and takes it back under rising task numbers', async () => {
    await using workers = await TestDataPlane.start(redis);
    const api = await home.start();
    await api.settled((await api.create('old')).task.id);
    const answer = await api.request('DELETE', '/v1/mirrors/old');
    expect(answer.status).toBe(202);
    const retiring = accepted(answer);
    expect(retiring).toMatchObject({ outcome: 'created', task: { action: 'retire', number: 2 } });
    await api.settled(retiring.task.id);
    expect(workers.closed.at(-1)).toMatchObject({ action: 'retire', task: { number: 2 } });
    expect(await api.mirror('old')).toMatchObject({ state: 'retired', generation: null, path: null, receipt: null });
    expect((await api.request('GET', '/v1/mirrors')).body).toEqual({ items: [], next: null });
    expect((await api.request('GET', '/v1/mirrors?state=retired')).body).toMatchObject({ items: [{ name: 'old' }] });
    const twice = await api.request('DELETE', '/v1/mirrors/old');
    expect(twice).toMatchObject({ status: 200, body: { outcome: 'merged', task: { id: retiring.task.id } } });
    // A retired name overlaps with nothing.
    await api.settled((await api.create('old/below')).task.id);
    expect(problem(await api.request('POST', '/v1/mirrors', { name: 'old', source: source('a') })).code).toBe(
      'API_NAME_TAKEN',
    );
    const below = accepted(await api.request('DELETE', '/v1/mirrors/old%2Fbelow'));
    await api.settled(below.task.id);
    const back = accepted(await api.request('POST', '/v1/mirrors', { name: 'old', source: source('b') }));
    expect(back).toMatchObject({ outcome: 'created', task: { number: 3 } });
    await api.settled(back.task.id);
    expect(await api.mirror('old')).toMatchObject({ state: 'ready', source: source('b') });
  });

  it('cancels what a mirror was about to do when it is retired, and refuses new work meanwhile', async () => {
    const hold = gate();
    await using _workers = await TestDataPlane.start(redis, {
      clone: () => hold.opened,
      close: () => hold.opened.then(() => ({})),
    });
    const api = await home.start();
    const running = await api.create('going');
    await api.until(running.task.id, 'admitted');
    await api.request('PATCH', '/v1/mirrors/going', { source: source('next') });
    const follow = accepted(await api.request('POST', '/v1/mirrors/going/clone'));
    const retire = accepted(await api.request('DELETE', '/v1/mirrors/going'));
    for (const path of ['/v1/mirrors/going/clone', '/v1/mirrors']) {
      const body = path === '/v1/mirrors' ? { name: 'going', source: source('next') } : undefined;
      const refused = await api.request('POST', path, body);
      expect(problem(refused)).toMatchObject({
        status: 409,
        code: 'API_RETIRING',
        outcome: 'refused',
        task: retire.task.id,
      });
    }
    expect(await api.task(follow.task.id)).toMatchObject({ state: 'settled', outcome: 'cancelled' });
    expect(await api.settled(running.task.id)).toMatchObject({ outcome: 'cancelled' });
    hold.open();
    await api.settled(retire.task.id);
    expect(await api.mirror('going')).toMatchObject({ state: 'retired' });
  });
});

describe('what a caller is told', () => {
  it('K081: created, merged or refused, and a wanted re-clone really runs', async () => {
    let hold = gate();
    await using workers = await TestDataPlane.start(redis, { clone: () => hold.opened });
    const api = await home.start();
    const first = await api.create('same');
    const merged = await api.request('POST', '/v1/mirrors', { name: 'same', source: source('a') });
    expect(merged).toMatchObject({ status: 200, body: { outcome: 'merged', task: { id: first.task.id } } });
    // Equal forms of a path are one source.
    const equal = await api.request('POST', '/v1/mirrors', { name: 'same', source: '/srv//bundles/./x/../a.hg' });
    expect(equal).toMatchObject({ status: 200, body: { outcome: 'merged' } });
    const other = await api.request('POST', '/v1/mirrors', { name: 'same', source: source('b') });
    expect(problem(other)).toMatchObject({ status: 409, code: 'API_MIRROR_EXISTS', outcome: 'refused' });
    const during = await api.request('POST', '/v1/mirrors/same/clone');
    expect(during).toMatchObject({ status: 200, body: { outcome: 'merged', task: { id: first.task.id } } });
    hold.open();
    await api.settled(first.task.id);
    hold = gate();
    hold.open();
    const again = await api.request('POST', '/v1/mirrors/same/clone');
    expect(again).toMatchObject({ status: 202, body: { outcome: 'created', task: { number: 2 } } });
    await api.settled(accepted(again).task.id);
    expect(await api.mirror('same')).toMatchObject({ generation: 2 });
    expect(workers.cloned.map(({ task }) => task.number)).toEqual([1, 2]);
    const after = await api.request('POST', '/v1/mirrors', { name: 'same', source: source('a') });
    expect(after).toMatchObject({ status: 200, body: { outcome: 'merged', task: { number: 2, state: 'settled' } } });
  });

  it('K060: one active job per mirror; any number of requests during a run become one follow-up', async () => {
    const hold = gate();
    let active = 0;
    let most = 0;
    await using workers = await TestDataPlane.start(redis, {
      clone: async () => {
        active += 1;
        most = Math.max(most, active);
        await hold.opened;
        active -= 1;
      },
    });
    const api = await home.start();
    const first = await api.create('busy');
    await api.until(first.task.id, 'admitted');
    // The running clone has another source, so it does not answer these.
    await api.request('PATCH', '/v1/mirrors/busy', { source: source('later') });
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => api.request('POST', '/v1/mirrors/busy/clone').then(accepted)),
    );
    expect(answers.filter(({ outcome }) => outcome === 'created')).toHaveLength(1);
    const [follow, ...rest] = new Set(answers.map(({ task }) => task.id));
    expect(rest).toEqual([]);
    // What is wanted but not begun follows the mirror.
    await api.request('PATCH', '/v1/mirrors/busy', { source: source('latest') });
    hold.open();
    await api.settled(follow ?? '');
    expect(most).toBe(1);
    expect(workers.cloned.map((job) => job.source)).toEqual(
      [source('a'), source('latest')].map((path) => ({ kind: 'bundle-file', path })),
    );
  });

  it('takes the tasks of one mirror in the order of its lane', async () => {
    const order: string[] = [];
    await using _workers = await TestDataPlane.start(redis, {
      close: async ({ action, task }) => {
        order.push(`${action} ${task.number}`);
        return {};
      },
    });
    const api = await home.start();
    const one = await api.create('lane');
    const two = accepted(await api.request('DELETE', '/v1/mirrors/lane'));
    await api.settled(one.task.id);
    await api.settled(two.task.id);
    const three = await api.create('lane');
    await api.settled(three.task.id);
    expect(order.filter((step) => !step.startsWith('publish 1'))).toEqual(['retire 2', 'publish 3']);
  });

  it('keeps no more tasks under way on a volume than it has slots, first come, first served', async () => {
    const hold = gate();
    await using workers = await TestDataPlane.start(redis, { clone: () => hold.opened });
    const api = await home.start({ QUICKSILVER_SLOTS: '1,main=2' });
    const tasks = [];
    for (const name of ['q1', 'q2', 'q3', 'q4']) tasks.push((await api.create(name)).task.id);
    await api.until(tasks[1] ?? '', 'admitted');
    await new Promise((resolve) => setTimeout(resolve, 150));
    const states = await Promise.all(tasks.map(async (id) => (await api.task(id)).state));
    expect(states).toEqual(['admitted', 'admitted', 'wanted', 'wanted']);
    hold.open();
    for (const id of tasks) await api.settled(id);
    expect(workers.cloned.map(({ mirror }) => mirror.name).slice(2)).toEqual(['q3', 'q4']);
  });
});
