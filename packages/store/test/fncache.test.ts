import { Buffer } from 'node:buffer';
import { describe, expect, it } from '@jest/globals';
import { encodeFncache, parseFncache } from '../src/index.ts';
import { binaryLine, golden, isLayout } from './golden.ts';

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

describe('fncache', () => {
  it.each(['basic', 'big', 'fmt-tree', 'oddpaths', 'fmt-nodotencode'])(
    'of %s is read and written as hg has it',
    (name) => {
      const lines = (golden(`store/layout-${name}.json`, isLayout).fncache ?? []).map(binaryLine);
      const bytes = Buffer.from(lines.join('\n'), 'latin1');
      const names = parseFncache(bytes);
      expect(names).toHaveLength(lines.length - 1);
      expect(text(encodeFncache(names))).toBe(bytes.toString('latin1'));
    },
  );

  it('holds names with directory encoding, and gives them back without', () => {
    expect(text(encodeFncache(['data/foo.i/bar.i', 'data/caf\xe9.d']))).toBe('data/foo.i.hg/bar.i\ndata/caf\xe9.d\n');
    expect(parseFncache(Buffer.from('data/foo.i.hg/bar.i\n'))).toEqual(['data/foo.i/bar.i']);
  });

  it('is empty for a repository without files', () => {
    expect(encodeFncache([])).toHaveLength(0);
    expect(parseFncache(new Uint8Array(0))).toEqual([]);
  });

  it.each([
    ['an end within a line', 'data/a.i\ndata/b', /not ended/],
    ['an empty line', 'data/a.i\n\ndata/b.i\n', /empty/],
    ['an empty line at the end', 'data/a.i\n\n', /empty/],
  ])('refuses %s', (_, content, message) => {
    expect(() => parseFncache(Buffer.from(content))).toThrow(expect.objectContaining({ code: 'HG_CORRUPT' }));
    expect(() => parseFncache(Buffer.from(content))).toThrow(message);
  });

  it('writes no name that would be two lines', () => {
    expect(() => encodeFncache(['data/a\nb.i'])).toThrow(expect.objectContaining({ code: 'HG_UNSAFE_NAME' }));
    expect(() => encodeFncache([''])).toThrow(expect.objectContaining({ code: 'HG_UNSAFE_NAME' }));
  });
});
