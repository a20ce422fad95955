import { describe, expect, it } from '@jest/globals';
import type { CloneRequest } from '../src/domain/clone-request.ts';
import { readNameCursor, readNumberCursor, writeCursor } from '../src/domain/cursor.ts';
import {
  decideClone,
  decideCreate,
  decideRetire,
  type MirrorFactsForDecision,
  type TaskFacts,
} from '../src/domain/decide.ts';
import { mirrorState, shownState } from '../src/domain/lifecycle.ts';
import { ancestorNames } from '../src/domain/mirror-name.ts';
import { acceptSource } from '../src/domain/source-policy.ts';

const request = (path = '/a'): CloneRequest => ({
  source: { kind: 'bundle-file', path },
  verify: 'quick',
  settings: {},
});
const task = (facts: Partial<TaskFacts> = {}): TaskFacts => ({
  id: 't',
  action: 'clone',
  state: 'admitted',
  cancelRequested: false,
  request: request(),
  ...facts,
});
const mirror = (facts: Partial<MirrorFactsForDecision> = {}): MirrorFactsForDecision => ({
  volume: 'main',
  request: request(),
  retired: false,
  open: [],
  last: undefined,
  ...facts,
});

describe('what becomes of a request', () => {
  it('a POST of a mirror is created, merged or refused', () => {
    const wanted = { request: request(), volume: undefined };
    expect(decideCreate(undefined, wanted)).toEqual({ kind: 'create' });
    expect(decideCreate(mirror({ retired: true }), wanted)).toEqual({ kind: 'create' });
    expect(decideCreate(mirror({ open: [task()] }), wanted)).toEqual({ kind: 'merge', task: task() });
    const last = task({ state: 'settled' });
    expect(decideCreate(mirror({ last }), wanted)).toEqual({ kind: 'merge', task: last });
    expect(decideCreate(mirror(), { ...wanted, request: request('/b') })).toMatchObject({
      kind: 'refuse',
      code: 'API_MIRROR_EXISTS',
    });
    expect(decideCreate(mirror(), { ...wanted, volume: 'spare' })).toMatchObject({
      kind: 'refuse',
      code: 'API_MIRROR_EXISTS',
    });
    const retiring = mirror({ open: [task({ action: 'retire' })] });
    expect(decideCreate(retiring, wanted)).toMatchObject({ kind: 'refuse', code: 'API_RETIRING', task: 't' });
  });

  it('a retired name does not move to another volume while a task of before may still publish on the old one', () => {
    const leaving = mirror({ retired: true, open: [task()] });
    expect(decideCreate(leaving, { request: request(), volume: 'spare' })).toMatchObject({
      kind: 'refuse',
      code: 'API_RETIRING',
      task: 't',
    });
    expect(decideCreate(leaving, { request: request(), volume: 'main' })).toEqual({ kind: 'create' });
    expect(decideCreate(mirror({ retired: true }), { request: request(), volume: 'spare' })).toEqual({
      kind: 'create',
    });
  });

  it('another clone merges only with one that does the same and is not being cancelled', () => {
    expect(decideClone(mirror({ open: [task()] }), request())).toMatchObject({ kind: 'merge' });
    expect(decideClone(mirror({ open: [task({ cancelRequested: true })] }), request())).toEqual({ kind: 'create' });
    expect(decideClone(mirror({ open: [task()] }), request('/b'))).toEqual({ kind: 'create' });
    for (const settings of [{ writers: 4 }, { backgroundClose: 'on' }, { flush: false }] as const) {
      expect(decideClone(mirror({ open: [task()] }), { ...request(), settings })).toEqual({ kind: 'create' });
    }
    expect(decideClone(mirror({ retired: true }), request())).toEqual({ kind: 'create' });
  });

  it('retiring merges with itself', () => {
    const retire = task({ action: 'retire' });
    expect(decideRetire(mirror({ open: [task(), retire] }))).toEqual({ kind: 'merge', task: retire });
    expect(decideRetire(mirror({ retired: true, last: retire }))).toEqual({ kind: 'merge', task: retire });
    expect(decideRetire(mirror({ open: [task({ action: 'retire', cancelRequested: true })] }))).toEqual({
      kind: 'create',
    });
  });
});

describe('states as they are shown', () => {
  it.each([
    [{ generation: null, retired: false, open: ['wanted'] }, 'wanted'],
    [{ generation: null, retired: false, open: ['admitted', 'wanted'] }, 'working'],
    [{ generation: 1, retired: false, open: ['admitted'] }, 'working'],
    [{ generation: 1, retired: false, open: ['wanted'] }, 'ready'],
    [{ generation: 1, retired: false, open: [] }, 'ready'],
    [{ generation: null, retired: false, open: [] }, 'failed'],
    [{ generation: null, retired: true, open: [] }, 'retired'],
  ] as const)('%j is %s', (facts, state) => {
    expect(mirrorState(facts)).toBe(state);
  });

  it('only an admitted task shows as cancelling', () => {
    expect(shownState({ state: 'admitted', cancelRequested: true })).toBe('cancelling');
    expect(shownState({ state: 'settled', cancelRequested: true })).toBe('settled');
  });
});

describe('sources', () => {
  const policy = { roots: ['/srv/in/', '/data'], isDirectory: async () => false, allowPrivate: false };
  it.each([
    ['/srv/in/a.hg', '/srv/in/a.hg'],
    ['//srv/./in/x/../a.hg/', '/srv/in/a.hg'],
    ['/data/a b#c%23', '/data/a b#c%23'],
    ['/data/..hidden', '/data/..hidden'],
  ])('%s is taken as %s', async (text, path) => {
    expect(await acceptSource(text, policy)).toEqual({ kind: 'bundle-file', path });
  });

  it.each([
    ['HTTP://H.example:80/a/../b c.hg', 'http://h.example/b%20c.hg'],
    ['https://h.example/a%23b+c?x=1', 'https://h.example/a%23b+c?x=1'],
  ])('%s is taken as %s', async (text, url) => {
    expect(await acceptSource(text, policy)).toEqual({ kind: 'bundle-url', url });
  });

  it.each([
    ['/srv/inside/a.hg', 'HG_POLICY'],
    ['/srv/in', 'HG_POLICY'],
    ['/srv/in/../../etc/passwd', 'HG_POLICY'],
    ['a.hg', 'HG_USAGE'],
    ['/data/a\0b', 'HG_USAGE'],
    [`/data/${'é'.repeat(3000)}`, 'HG_USAGE'],
    ['https://u:p@h/', 'HG_USAGE'],
    ['https://u@h/', 'HG_USAGE'],
    ['https://h/a#b', 'HG_USAGE'],
    ['https:h/a', 'HG_USAGE'],
    ['http://127.0.0.1/a', 'HG_POLICY'],
    ['http://2130706433/a', 'HG_POLICY'],
    ['http://[::ffff:10.0.0.1]/a', 'HG_POLICY'],
    ['ssh://h/a', 'HG_NOT_YET'],
    ['file:///data/a.hg', 'HG_NOT_YET'],
    ['gopher://h/', 'HG_UNSUPPORTED'],
  ])('%j is refused as %s', async (text, code) => {
    await expect(acceptSource(text, policy)).rejects.toMatchObject({ code });
  });
});

describe('cursors and names', () => {
  it('a cursor is read back, and a foreign one refused', () => {
    expect(readNameCursor(writeCursor('ü/"x'))).toBe('ü/"x');
    expect(readNumberCursor(writeCursor(7))).toBe(7);
    expect(() => readNumberCursor(writeCursor('7'))).toThrow('not a cursor');
    expect(() => readNameCursor('!!')).toThrow('not a cursor');
  });

  it('ancestors are by segments', () => {
    expect(ancestorNames('a/b/c')).toEqual(['a', 'a/b']);
    expect(ancestorNames('a')).toEqual([]);
  });
});
