import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startRedis, type TestRedis, waitFor } from '@quicksilver/testing';
import { TaskView } from '../src/http/schemas.ts';
import { gate, progressOf, TestDataPlane } from './support/data-plane.ts';
import { ApiHome } from './support/harness.ts';
import { listen, type SseClient } from './support/sse-client.ts';

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

const states = (client: SseClient) =>
  client.messages.filter(({ event }) => event === 'state').map(({ data }) => TaskView.parse(data).state);
const done = (client: SseClient) =>
  client.messages
    .filter(({ event }) => event === 'progress')
    .map(({ data }) => JSON.stringify(data).match(/"done":(\d+)/)?.[1]);

describe('GET /v1/tasks/{id}/events', () => {
  it('tells the state now, each change and progress, and ends after the task is settled', async () => {
    const hold = gate();
    await using _workers = await TestDataPlane.start(redis, {
      clone: async (data, job) => {
        await job.updateProgress(progressOf(data, 10));
        await hold.opened;
      },
    });
    const api = await home.start();
    const { task } = await api.create('watched');
    const client = await listen(api.url, task.id);
    await waitFor(() => done(client).includes('10'));
    hold.open();
    await client.ended;
    expect(states(client).at(0)).toMatch(/wanted|admitted/);
    expect(states(client).at(-1)).toBe('settled');
    expect(client.messages.at(-1)).toMatchObject({ data: { id: task.id, outcome: 'ready', generation: 1 } });
    // A listener that comes later hears the end at once; a browser that asks again is told to stop.
    const late = await listen(api.url, task.id);
    await late.ended;
    expect(states(late)).toEqual(['settled']);
    const id = late.messages[0]?.id ?? '';
    await expect(listen(api.url, task.id, { 'last-event-id': 'anything' })).resolves.toBeDefined();
    expect((await fetch(`${api.url}/v1/tasks/${task.id}/events`, { headers: { 'last-event-id': id } })).status).toBe(
      204,
    );
  });

  it('K075: sends progress at most about once a second, the latest, however often it comes', async () => {
    const hold = gate();
    await using _workers = await TestDataPlane.start(redis, {
      clone: async (data, job) => {
        const end = Date.now() + 1500;
        for (let count = 0; Date.now() < end; count += 1) {
          await job.updateProgress(progressOf(data, Math.min(count, 99)));
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        await job.updateProgress(progressOf(data, 100));
        await hold.opened;
      },
    });
    const api = await home.start();
    const { task } = await api.create('chatty');
    const client = await listen(api.url, task.id);
    await waitFor(() => done(client).includes('100'));
    expect(done(client).length).toBeLessThanOrEqual(4);
    // Someone who comes in between is told at once how far it is.
    const second = await listen(api.url, task.id);
    await waitFor(() => done(second).includes('100'), { deadline: 500 });
    hold.open();
    await Promise.all([client.ended, second.ended]);
  });

  it('keeps idle streams open by comments, and lets go of clients that leave', async () => {
    const api = await home.start({ QUICKSILVER_EVENT_HEARTBEAT: '20' });
    const { task } = await api.create('idle');
    const client = await listen(api.url, task.id);
    await waitFor(() => client.comments.length >= 2);
    expect(api.plane.streams.clients).toBe(1);
    client.close();
    await waitFor(() => api.plane.streams.clients === 0);
  });

  it('bounds the number of clients, and says when to come back', async () => {
    const api = await home.start({ QUICKSILVER_EVENT_CLIENTS: '2' });
    const { task } = await api.create('crowded');
    const clients = [await listen(api.url, task.id), await listen(api.url, task.id)];
    await expect(listen(api.url, task.id)).rejects.toThrow('503 API_BUSY');
    const refused = await fetch(`${api.url}/v1/tasks/${task.id}/events`);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    clients[0]?.close();
    await waitFor(() => api.plane.streams.clients === 1);
    const next = await listen(api.url, task.id);
    next.close();
    clients[1]?.close();
  });

  it('ends streams when the service stops', async () => {
    const api = await home.start();
    const { task } = await api.create('stopping');
    const client = await listen(api.url, task.id);
    await waitFor(() => states(client).length > 0);
    const began = performance.now();
    await api.close();
    await client.ended;
    expect(performance.now() - began).toBeLessThan(2000);
  });
});
