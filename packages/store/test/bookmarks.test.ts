import { Buffer } from 'node:buffer';
import { describe, expect, it } from '@jest/globals';
import { hexNode, nodeFromHex } from '@quicksilver/hg-types';
import { fixture } from '@quicksilver/testing';
import { DUMMY_CHANGELOG, displayName, encodeBookmarks, isBookmarkName, parseBookmarks } from '../src/index.ts';

const NODE = '16409a4c634e630f345a82de05d375b4f2165ca1';
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

describe('bookmarks', () => {
  it.each(['basic.bookmarks', 'fmt-bookstore.store-bookmarks'])('in %s are read and written as hg has them', (name) => {
    const bytes = fixture(`misc/${name}`);
    expect(text(encodeBookmarks(parseBookmarks(bytes)))).toBe(bytes.toString('latin1'));
  });

  it('K057: names are content and survive, whatever they look like as paths', () => {
    const names = [
      '@',
      'A',
      'a',
      'a/b',
      '..',
      '../../x',
      '.hg/hgrc',
      '/etc',
      'con',
      'book one',
      'a:b',
      'x@default',
      '%2e',
      'caf\xc3\xa9',
      '\xe9',
    ];
    const bookmarks = names.map((name) => ({ name, node: nodeFromHex(NODE) }));
    expect(
      parseBookmarks(encodeBookmarks(bookmarks))
        .map(({ name }) => name)
        .sort(),
    ).toEqual([...names].sort());
  });

  it('are sorted by bytes, and the later of two with one name counts', () => {
    const other = '0a908d08038af25b07a8f7ea051a9c190027d5a6';
    const written = encodeBookmarks([
      { name: 'b', node: nodeFromHex(NODE) },
      { name: 'B', node: nodeFromHex(NODE) },
      { name: 'b', node: nodeFromHex(other) },
    ]);
    expect(text(written)).toBe(`${NODE} B\n${other} b\n`);
  });

  it('lose blanks at the end of a line, as hg reads them', () => {
    expect(parseBookmarks(`${NODE} a b \r\n`).map(({ name, node }) => [name, hexNode(node)])).toEqual([['a b', NODE]]);
  });

  it.each([`${NODE}\n`, `${NODE} \n`, `${NODE}x\n`, `${NODE.slice(1)} x\n`, 'x\n', `\n${NODE} x\n`, `${NODE} a\0b\n`])(
    'refuses the line %p',
    (content) => {
      expect(() => parseBookmarks(content)).toThrow(expect.objectContaining({ code: 'HG_CORRUPT' }));
    },
  );

  it.each(['', ' ', 'a\nb', 'a\rb', 'a\0b'])('writes no bookmark that is named %p', (name) => {
    expect(isBookmarkName(name)).toBe(false);
    expect(() => encodeBookmarks([{ name, node: nodeFromHex(NODE) }])).toThrow(
      expect.objectContaining({ code: 'HG_CORRUPT' }),
    );
  });
});

describe('displayName', () => {
  it('shows UTF-8 as text, control characters escaped, long names cut', () => {
    expect(displayName('caf\xc3\xa9')).toBe('café');
    expect(displayName('a\x1b[2Jb\n')).toBe('a\\x1b[2Jb\\x0a');
    expect(displayName('n'.repeat(500))).toMatch(/^n{200}\.\.\. \(500 bytes\)$/);
  });
});

describe('the dummy changelog', () => {
  it('begins with the version that hg gives it', () => {
    expect([...DUMMY_CHANGELOG.subarray(0, 4)]).toEqual([...fixture('misc/dummy-00changelog.i').subarray(0, 4)]);
  });
});
