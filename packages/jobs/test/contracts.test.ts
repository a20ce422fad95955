import { describe, expect, it } from '@jest/globals';
import { CloneData, CloneResult, CloseData, Progress, SourceRef, TaskOutcome } from '../src/contracts.ts';
import { type TaskRequest, taskFlow } from '../src/flow.ts';
import { JOB_KINDS, parseQueueName, queueName } from '../src/names.ts';
import { parsePayload } from '../src/parse.ts';
import { WORKER_SETTINGS } from '../src/worker-settings.ts';

const request: TaskRequest = {
  action: 'clone',
  task: { id: '9b2f6f2e-5d7e-4c7a-9a57-2f7f6f1f8a01', number: 3, flow: 2 },
  mirror: { id: '0f5a0c2d-8d61-4f61-9d29-6d9a3a3f1a02', name: 'mozilla/central' },
  volume: 'main',
  source: { kind: 'bundle-file', path: '/srv/bundles/central.hg' },
  verify: 'quick',
  settings: {},
};

describe('queue names', () => {
  it.each(JOB_KINDS)('%s: name and parse are inverse', (kind) => {
    expect(parseQueueName(queueName(kind, 'main'))).toEqual({ kind, volume: 'main' });
  });

  it.each(['clone', 'clone@', 'clone@A', 'nope@main', 'clone@a:b', 'clone@../x', ''])(
    'K057: %j is not ours',
    (queue) => {
      expect(parseQueueName(queue)).toBeUndefined();
    },
  );
});

describe('taskFlow', () => {
  it('makes close the parent, started even when its child fails (a failed child must never leave it waiting)', () => {
    const flow = taskFlow(request);
    expect(flow.queueName).toBe('close@main');
    expect(flow.children).toHaveLength(1);
    expect(flow.children?.[0]).toMatchObject({
      queueName: 'clone@main',
      opts: { ignoreDependencyOnFailure: true, jobId: '9b2f6f2e-5d7e-4c7a-9a57-2f7f6f1f8a01.2' },
    });
    expect(flow.opts).toMatchObject({ jobId: '9b2f6f2e-5d7e-4c7a-9a57-2f7f6f1f8a01.2' });
  });

  it('writes payloads that its own schemas accept', () => {
    const flow = taskFlow(request);
    expect(parsePayload(CloseData, flow.data).kind).toBe('ok');
    expect(parsePayload(CloneData, flow.children?.[0]?.data).kind).toBe('ok');
  });

  it('retires with a single node', () => {
    const flow = taskFlow({ ...request, action: 'retire', source: undefined });
    expect(flow.children).toBeUndefined();
    expect(parsePayload(CloseData, flow.data)).toMatchObject({ kind: 'ok', data: { action: 'retire' } });
  });

  it('lets finished nodes leave Redis by age', () => {
    for (const node of [taskFlow(request), ...(taskFlow(request).children ?? [])]) {
      expect(node.opts).toMatchObject({ removeOnComplete: { age: 3600 }, removeOnFail: { age: 3600 } });
    }
  });
});

describe('parsePayload', () => {
  const data = taskFlow(request).children?.[0]?.data;

  it('tells a newer version apart from damage: the first is handed back, the second is lasting', () => {
    expect(parsePayload(CloneData, { ...data, v: 2, more: true })).toEqual({ kind: 'newer', version: 2 });
    expect(parsePayload(CloneData, { ...data, extra: 1 }).kind).toBe('malformed');
    expect(parsePayload(CloneData, { ...data, v: 0 }).kind).toBe('malformed');
  });

  it.each([[null], ['text'], [[]], [{}], [{ v: '1' }], [{ v: 1.5 }]])('calls %j malformed', (payload) => {
    for (const schema of [CloneData, CloseData, CloneResult, Progress, TaskOutcome]) {
      expect(parsePayload<unknown>(schema, payload).kind).toBe('malformed');
    }
  });
});

describe('sources', () => {
  const url = (text: string) => SourceRef.safeParse({ kind: 'bundle-url', url: text }).success;

  it('K103: an address in a job has no user and no password', () => {
    expect(url('https://example.org/a.hg?x=1@2')).toBe(true);
    for (const text of [
      'https://me:secret@example.org/a',
      'https://me@example.org/',
      'ssh://h/a',
      '/a',
      'http://h/a#b',
    ]) {
      expect(url(text)).toBe(false);
    }
  });
});

describe('worker settings', () => {
  it('K067: stalls by our own roll-outs never use up a task', () => {
    for (const kind of JOB_KINDS) expect(WORKER_SETTINGS[kind].maxStalledCount).toBeGreaterThan(10_000);
  });

  it('a lock is renewed well before a stall check can miss it', () => {
    for (const kind of JOB_KINDS) {
      expect(WORKER_SETTINGS[kind].stalledInterval).toBeLessThanOrEqual(WORKER_SETTINGS[kind].lockDuration / 2);
    }
  });
});
