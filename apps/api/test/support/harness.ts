import 'reflect-metadata';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createLogger, loadConfig } from '@quicksilver/app-kit';
import { type TestRedis, tmpDir, waitFor } from '@quicksilver/testing';
import type { z } from 'zod';
import { ApiModule } from '../../src/api.module.ts';
import { ApiConfig } from '../../src/config.ts';
import { configureApp } from '../../src/configure-app.ts';
import { type ControlPlane, startControlPlane } from '../../src/control-plane.ts';
import { Accepted, MirrorDetail, ProblemView, TaskDetail } from '../../src/http/schemas.ts';

export const SOURCES = '/srv/bundles';
export const source = (name: string): string => `${SOURCES}/${name}.hg`;

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly headers: Headers;
  readonly body: unknown;
}

export interface RunningApi extends AsyncDisposable {
  readonly url: string;
  readonly plane: ControlPlane;
  request(method: string, path: string, body?: unknown): Promise<Answer>;
  create(name: string, from?: string): Promise<z.infer<typeof Accepted> & { task: { id: string } }>;
  mirror(name: string): Promise<z.infer<typeof MirrorDetail>>;
  task(id: string): Promise<z.infer<typeof TaskDetail>>;
  settled(id: string, deadline?: number): Promise<z.infer<typeof TaskDetail>>;
  until(id: string, state: string): Promise<z.infer<typeof TaskDetail>>;
  close(): Promise<void>;
}

/** A home for one test: a database that outlives restarts of the API. */
export class ApiHome implements AsyncDisposable {
  readonly #dir = tmpDir('quicksilver-api');
  readonly #redisUrl: string;
  readonly #running = new Set<RunningApi>();

  constructor(redis: Pick<TestRedis, 'url'>) {
    this.#redisUrl = redis.url;
  }

  async start(env: Record<string, string> = {}): Promise<RunningApi> {
    const config = loadConfig(ApiConfig, {
      REDIS_URL: this.#redisUrl,
      QUICKSILVER_DATABASE: this.#dir.join('api.db'),
      QUICKSILVER_VOLUMES: `main=${this.#dir.join('volume')}`,
      QUICKSILVER_SOURCE_ROOTS: SOURCES,
      QUICKSILVER_TICK: '50',
      QUICKSILVER_FLOW_GRACE: '300',
      QUICKSILVER_REDIS_POLICY_OVERRIDE: '1',
      ...env,
    });
    const logger = createLogger('api', process.env.TEST_LOG ?? 'silent');
    const plane = await startControlPlane(config, logger);
    const app = await NestFactory.create(ApiModule.forPlane(plane), {
      logger: false,
      abortOnError: false,
      forceCloseConnections: true,
    });
    configureApp(app, logger);
    await app.listen(0, '127.0.0.1');
    const running = runningApi(app, plane, (closed) => this.#running.delete(closed));
    this.#running.add(running);
    return running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#running].map((api) => api.close()));
    this.#dir[Symbol.dispose]();
  }
}

function runningApi(app: INestApplication, plane: ControlPlane, onClose: (closed: RunningApi) => void): RunningApi {
  const address = app.getHttpServer().address();
  const url = `http://127.0.0.1:${address.port}`;
  const request = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const init =
      body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const response = await fetch(`${url}${path}`, { method, ...init, signal: AbortSignal.timeout(10_000) });
    return answerOf(response);
  };
  const task = async (id: string) => TaskDetail.parse((await request('GET', `/v1/tasks/${id}`)).body);
  const until = (id: string, state: string, deadline?: number) =>
    waitFor(
      async () => {
        const seen = await task(id);
        if (seen.state !== state) throw new Error(JSON.stringify(seen));
        return seen;
      },
      { what: `${state} of task ${id}`, ...(deadline ? { deadline } : {}) },
    );
  let closing: Promise<void> | undefined;
  const api: RunningApi = {
    url,
    plane,
    request,
    task,
    until,
    create: async (name, from = source('a')) => accepted(await request('POST', '/v1/mirrors', { name, source: from })),
    mirror: async (name) => MirrorDetail.parse((await request('GET', `/v1/mirrors/${encodeURIComponent(name)}`)).body),
    settled: (id, deadline) => until(id, 'settled', deadline),
    close: () => {
      closing ??= app.close().then(() => onClose(api));
      return closing;
    },
    [Symbol.asyncDispose]: () => api.close(),
  };
  return api;
}

export async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  const body: unknown = type.includes('json') ? JSON.parse(text) : text;
  // No answer that is not a success is anything but a problem document; nothing ever shows a stack.
  if (response.status >= 400 && response.status !== 503) ProblemView.parse(body);
  if (/\n\s+at /.test(text)) throw new Error(`an answer shows a stack: ${text}`);
  return { status: response.status, type, headers: response.headers, body };
}

export function accepted(answer: Answer): z.infer<typeof Accepted> & { task: { id: string } } {
  const parsed = Accepted.parse(answer.body);
  if (!parsed.task) throw new Error('an answer without a task');
  return { ...parsed, task: parsed.task };
}

export function problem(answer: Answer): z.infer<typeof ProblemView> {
  if (!answer.type.startsWith('application/problem+json')) throw new Error(`no problem document: ${answer.type}`);
  return ProblemView.parse(answer.body);
}
