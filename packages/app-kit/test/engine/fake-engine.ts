import { setTimeout as sleep } from 'node:timers/promises';
import { HgError } from '@quicksilver/hg-types';
import { type EngineContext, serveEngine } from '../../src/engine/serve-engine.ts';

/** An engine that does nothing useful in every way an engine can go wrong. */
const kept: Uint8Array[] = [];

const number = (params: unknown): number => Number(params);

serveEngine({
  echo: async (params) => ({ pid: process.pid, params }),
  environment: async (params) => process.env[String(params)],
  sleep: async (params, { signal }: EngineContext) => {
    await sleep(number(params), undefined, { signal });
    return 'slept';
  },
  finishAnyway: async (params, { signal }) => {
    signal.addEventListener('abort', () => {});
    await sleep(number(params));
    return 'finished';
  },
  fail: async () => {
    throw new HgError('HG_CORRUPT', 'damaged', { file: 'a', offset: 7 });
  },
  exit: async (params) => process.exit(number(params)),
  killSelf: async () => {
    process.kill(process.pid, 'SIGKILL');
    await sleep(5000);
  },
  abortProcess: async () => process.abort(),
  stray: async () => {
    void Promise.reject(new HgError('HG_IO', 'nobody waited for this', { file: 'b' }));
    await sleep(5000);
  },
  busy: async (params) => {
    const end = Date.now() + number(params);
    while (Date.now() < end);
    return 'was busy';
  },
  grow: async (params) => {
    kept.push(new Uint8Array(number(params) * 2 ** 20).fill(1));
    return process.pid;
  },
  flood: async (params, { onProgress }) => {
    const end = Date.now() + number(params);
    let n = 0;
    while (Date.now() < end) {
      for (let i = 0; i < 200; i += 1) onProgress({ n: n++ });
      process.stderr.write(`${'noise '.repeat(20)}\n`.repeat(50));
      await sleep(1);
    }
    onProgress({ n });
    return n;
  },
  events: async (_params, { onProgress, onEvent }) => {
    for (let n = 0; n < 20; n += 1) onEvent({ n });
    onProgress('first');
    onProgress('superseded');
    onProgress('last before silence');
    await sleep(400);
    return 'done';
  },
});
