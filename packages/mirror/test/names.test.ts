import { describe, expect, it } from '@jest/globals';
import { decodeMirrorName, encodeMirrorName, namesConflict, parseMirrorName } from '../src/names.ts';

const good = [
  'a',
  'a/b',
  'A',
  'con',
  'mozilla/central',
  'with blank',
  'a#b',
  'a%23b',
  '50%',
  'a+b',
  'é',
  '源/コード',
  "o'k(1)*!~",
  'x'.repeat(200),
];
const bad = [
  '',
  '/',
  '/a',
  'a/',
  'a//b',
  '.',
  '..',
  'a/..',
  '../a',
  '.hg',
  'a/.hg',
  'a/.',
  '-a',
  'a/-oProxyCommand=x',
  ' a',
  'a ',
  'a.',
  'a\\b',
  'a\0b',
  'a\nb',
  'a\u202eb',
  'a\u200bb',
  '\ud800',
  'e\u0301',
  'x'.repeat(201),
  '源'.repeat(90),
];

describe('names of mirrors', () => {
  it.each(good)('K057: %j survives as one segment of a path and of a URL', (name) => {
    const segment = encodeMirrorName(name);
    expect(segment).not.toMatch(/[/\\\0]|^\./);
    expect(Buffer.byteLength(segment)).toBeLessThanOrEqual(255);
    expect(decodeMirrorName(segment)).toBe(name);
    expect(decodeURIComponent(segment)).toBe(name);
  });

  it.each(bad)('K057: %j is refused before it can become a path', (name) => {
    expect(() => parseMirrorName(name)).toThrow(expect.objectContaining({ code: 'HG_USAGE' }));
    expect(() => encodeMirrorName(name)).toThrow(expect.objectContaining({ code: 'HG_USAGE' }));
  });

  it('gives different names different segments', () => {
    const segments = good.map(encodeMirrorName);
    expect(new Set(segments).size).toBe(good.length);
  });

  it('reads only segments that it would write', () => {
    for (const segment of ['.mirrors', '.flush', 'a%2fb', 'a b', '%', '%ff', '%2E%2E', 'a%2F']) {
      expect(decodeMirrorName(segment)).toBeUndefined();
    }
  });

  it('finds names that would be folders of each other, by segments', () => {
    expect(namesConflict('tests', 'tests/test1')).toBe(true);
    expect(namesConflict('tests/test1', 'tests')).toBe(true);
    expect(namesConflict('tests', 'tests1')).toBe(false);
    expect(namesConflict('a', 'a')).toBe(false);
  });
});
