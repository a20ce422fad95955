import { describe, expect, it } from '@jest/globals';
import { faultRecord, HgError } from '@quicksilver/hg-types';
import { canInjectFaults, type FaultRule, faultEnv } from '@quicksilver/testing';
import { cloneToStaging } from '../src/clone.ts';
import { closeTask } from '../src/close.ts';
import { runJanitor } from '../src/janitor.ts';
import type { Settled } from '../src/outcome.ts';
import { type EngineEnd, runEngine } from './support/child.ts';
import { only, remains, type Scene, scene, task } from './support/scene.ts';
import { context } from './support/volume.ts';

const injected = canInjectFaults() ? describe : describe.skip;

interface FaultyClose {
  readonly end: EngineEnd;
  readonly retry: () => Promise<Settled>;
}

async function closeUnder(s: Scene, rules: readonly FaultRule[]): Promise<FaultyClose> {
  const ref = task(1);
  const written = await cloneToStaging(s.volume, s.cloneRequest(ref), context());
  const request = s.closeRequest(ref, written, { flush: true });
  const env = faultEnv(rules.map((rule) => ({ path: s.volume.root, ...rule })));
  const end = await runEngine('close', { root: s.volume.root, request }, { env });
  return { end, retry: () => closeTask(s.volume, request, context()) };
}

injected('a close on a disk with faults', () => {
  const verdicts: [string, string, FaultRule][] = [
    ['a write-back that failed', 'HG_IO', { kind: 'syncfs', errno: 'EIO' }],
    ['no room for the receipt', 'HG_NO_SPACE', { kind: 'write', has: '.receipt', errno: 'ENOSPC' }],
    ['a receipt that cannot be synced', 'HG_IO', { kind: 'sync', has: '.receipt', errno: 'EIO' }],
    ['a changelog that cannot be read', 'HG_IO', { kind: 'read', has: '00changelog', errno: 'EIO' }],
  ];
  it.each(verdicts)('ends the task at %s, with nothing left', async (_what, code, rule) => {
    using s = await scene();
    const { end, retry } = await closeUnder(s, [rule]);
    expect(end).toMatchObject({ result: { state: 'failed', problem: { code } } });
    expect(await remains(s.volume)).toEqual([]);
    // Trying again would only hide it: the end is recorded.
    expect(await retry()).toMatchObject({ state: 'failed', problem: { code } });
    // There is room again, the disk works again: so does the mirror.
    expect(await s.publish(task(2))).toMatchObject({ state: 'ready' });
  });

  const passing: [string, string, FaultRule][] = [
    ['no handles for the proof', 'HG_TOO_MANY_FILES', { kind: 'open', has: '00changelog', errno: 'EMFILE' }],
    ['no handles for the receipt', 'HG_TOO_MANY_FILES', { kind: 'open', has: '.receipt', errno: 'EMFILE' }],
    ['a lane that cannot be synced', 'EIO', { kind: 'sync', has: '/locks/', errno: 'EIO' }],
    ['a lane that cannot be written', 'ENOSPC', { kind: 'write', has: '/locks/', errno: 'ENOSPC' }],
  ];
  it.each(passing)('does not end the task at %s: the next run publishes it once', async (_what, code, rule) => {
    using s = await scene();
    const { end, retry } = await closeUnder(s, [rule]);
    expect([code, code === 'HG_TOO_MANY_FILES' ? 'EMFILE' : code]).toContain(end.error?.code);
    expect(await retry()).toMatchObject({ state: 'ready', generation: 1 });
    await runJanitor(s.volume, { signal: new AbortController().signal, graceMs: 0 });
    expect(await remains(s.volume)).toEqual(only(s.mirror, 1));
  });

  it('K043: a disk that fills while a clone writes ends it as full, and it works again with room', async () => {
    using s = await scene();
    const ref = task(1);
    const env = faultEnv([{ kind: 'write', path: s.volume.paths.folder('staging'), room: 1000, errno: 'ENOSPC' }]);
    const end = await runEngine('clone', { root: s.volume.root, request: s.cloneRequest(ref) }, { env });
    expect(end.error?.code).toBe('HG_NO_SPACE');
    await closeTask(s.volume, s.closeRequest(ref, undefined), context());
    expect(await remains(s.volume)).toEqual([]);
    expect(await s.publish(task(2))).toMatchObject({ state: 'ready', generation: 1 });
  });

  it('K043: a disk that was full before the first task of a mirror ends it all the same, with nothing left', async () => {
    using s = await scene();
    const env = faultEnv([{ kind: 'write', path: s.volume.paths.folder('locks'), room: 0, errno: 'ENOSPC' }]);
    const clone = await runEngine('clone', { root: s.volume.root, request: s.cloneRequest(task(1)) }, { env });
    expect(clone.error?.code).toMatch(/NO_?SPACE|ENOSPC/);
    const childProblem = { ...faultRecord(new HgError('HG_NO_SPACE', 'the volume is full', {})), stage: 'plan' };
    const request = s.closeRequest(task(1), undefined, { childProblem });
    const close = await runEngine('close', { root: s.volume.root, request }, { env });
    expect(close.result).toMatchObject({ state: 'failed', problem: { code: 'HG_NO_SPACE', stage: 'plan' } });
    expect(await remains(s.volume)).toEqual([]);
    expect(await s.publish(task(2))).toMatchObject({ state: 'ready', generation: 1 });
  });
});
