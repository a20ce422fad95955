import { Buffer } from 'node:buffer';
import { describe, expect, it } from '@jest/globals';
import { fixtures } from '@quicksilver/testing';
import { encodeRequirements, joinRequirements, parseRequirements, planRequirements } from '../src/index.ts';
import { golden, isLayout, isRecord } from './golden.ts';

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

interface CloneResult {
  readonly requires: string;
  readonly 'store/requires': string;
}

const clones = golden('store/clone-results.json', isRecord);

function cloneResult(key: string): CloneResult | undefined {
  const result = clones[key];
  if (!isRecord(result) || typeof result.requires !== 'string' || typeof result['store/requires'] !== 'string')
    return undefined;
  return { requires: result.requires, 'store/requires': result['store/requires'] };
}

/** The requirements that the stream bundle of a golden repository names. */
function streamed(name: string): string[] {
  const sidecar = JSON.stringify(fixtures('stream', new RegExp(`^${name}\\.stream-v2`))[0]?.sidecar);
  const value = /\["requirements","([^"]*)"\]/.exec(sidecar)?.[1] ?? '';
  return decodeURIComponent(value).split(',');
}

describe('planRequirements', () => {
  it.each([
    'basic',
    'fmt-zlib',
    'fmt-nogd',
    'fmt-tree',
    'fmt-nodemap',
    'fmt-fileindex',
    'fmt-bookstore',
    'oddpaths',
    'big',
  ])('plans for a stream of %s what a clone by hg ends up with', (name) => {
    const plan = planRequirements(streamed(name));
    const hg = cloneResult(`${name} --stream`);
    expect(text(encodeRequirements(plan.workingCopy))).toBe(hg?.requires);
    expect(text(encodeRequirements(plan.store))).toBe(hg?.['store/requires']);
    expect(plan).toMatchObject({ completed: [], ignored: [] });
  });

  it('K006: completes an empty list by what the bytes say', () => {
    const plan = planRequirements([], ['revlogv1', 'generaldelta']);
    expect(plan.store).toEqual(['dotencode', 'fncache', 'generaldelta', 'revlogv1', 'store']);
    expect(plan.workingCopy).toEqual(['share-safe']);
    expect(plan.completed).toEqual(['generaldelta', 'revlogv1']);
  });

  it('K006: a source that names nothing and has no delta chains still gets the version of its revlogs', () => {
    expect(planRequirements([]).store).toEqual(['dotencode', 'fncache', 'revlogv1', 'store']);
  });

  it('leaves to the receiver what the receiver decides, and says so', () => {
    const plan = planRequirements(['revlogv1', 'persistent-nodemap', 'dirstate-v2', 'fileindex-v1', 'store']);
    expect(plan.store).toEqual(['dotencode', 'fncache', 'revlogv1', 'store']);
    expect(plan.workingCopy).toEqual(['share-safe']);
    expect(plan.ignored).toEqual(['dirstate-v2', 'fileindex-v1', 'persistent-nodemap', 'store']);
  });

  it.each([
    'foo-bar',
    'exp-changelog-v2',
    'exp-revlogv2.2',
    'largefiles',
    'lfs',
    'narrowhg-experimental',
    '',
    'REVLOGV1',
  ])('refuses %p by its name', (requirement) => {
    expect(() => planRequirements(['revlogv1', requirement])).toThrow(
      expect.objectContaining({ code: 'HG_UNSUPPORTED', where: { requirement } }),
    );
  });

  it('does not trust derived names more than streamed ones', () => {
    expect(() => planRequirements([], ['made-up'])).toThrow(expect.objectContaining({ code: 'HG_UNSUPPORTED' }));
  });
});

describe('requires files', () => {
  it('are sets of lines; the last one may lack its end, and an empty file has none', () => {
    expect(parseRequirements('store\nfncache\n')).toEqual(new Set(['store', 'fncache']));
    expect(parseRequirements(Buffer.from('store\nfncache'))).toEqual(new Set(['store', 'fncache']));
    expect(parseRequirements('')).toEqual(new Set());
  });

  it.each(['store\n\nfncache\n', '<html>\n', 'store\r\n', ' store\n', 'st\0re\n', '\xff\n'])(
    'refuses %p as damaged',
    (content) => {
      expect(() => parseRequirements(content)).toThrow(expect.objectContaining({ code: 'HG_CORRUPT' }));
    },
  );

  it('are written sorted, each once', () => {
    expect(text(encodeRequirements(['store', 'dotencode', 'store']))).toBe('dotencode\nstore\n');
  });
});

describe('K008: requirements in both layouts', () => {
  it('read alike', () => {
    const split = golden('store/layout-basic.json', isLayout);
    const single = golden('store/layout-fmt-nosharesafe.json', isLayout);
    const a = joinRequirements(split.requires, split['store/requires']);
    const b = joinRequirements(single.requires, single['store/requires']);
    expect([a.layout, b.layout]).toEqual(['split', 'single']);
    expect([...a.all].filter((name) => name !== 'share-safe').sort()).toEqual([...b.all].sort());
  });

  it('say plainly when the half in the store is missing', () => {
    expect(() => joinRequirements('share-safe\n', undefined)).toThrow(/store lacks its list/);
  });

  it('say plainly when a share is out of step with its source', () => {
    expect(() => joinRequirements('shared\nstore\n', 'revlogv1\n')).toThrow(/upgraded to share-safe/);
    expect(() => joinRequirements('shared\nshare-safe\n', undefined)).toThrow(/share expects/);
  });

  it('take a repository from before there were requirements', () => {
    expect(joinRequirements(undefined, undefined)).toEqual({ layout: 'single', all: new Set() });
  });

  it('do not read a list that has no meaning', () => {
    expect(joinRequirements('store\n', 'share-safe\n').all).toEqual(new Set(['store']));
  });
});
