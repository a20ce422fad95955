import { describe, expect, it } from '@jest/globals';
import { directoryDecode, directoryEncode, encodeStorePath, type PathEncoding } from '../src/index.ts';
import { binaryLine, golden, isLayout, isRecord, storePaths } from './golden.ts';

const COLUMNS = {
  dotencode: 'dotencode',
  fncache_no_dotencode: 'fncache',
  store_only: 'store',
  dir_only: 'plain',
} as const;

type Row = { readonly path: string } & { readonly [column in keyof typeof COLUMNS]: string };

const rows = golden(
  'store/pathencode.json',
  (json): json is readonly Row[] => Array.isArray(json) && json.every(isRecord),
);

describe.each(Object.entries(COLUMNS) as [keyof typeof COLUMNS, PathEncoding][])('column %s', (column, encoding) => {
  it('spells every golden name as the encoders of hg do', () => {
    const spelled = rows.map(({ path }) => ({ path, encoded: encodeStorePath(path, encoding) }));
    expect(spelled).toEqual(rows.map((row) => ({ path: row.path, encoded: row[column] })));
    expect(rows.length).toBeGreaterThan(60);
  });
});

describe('layouts of real repositories', () => {
  it.each(['basic', 'big', 'fmt-tree', 'fmt-nosharesafe', 'oddpaths'])(
    'finds every file of %s where hg put it',
    (name) => {
      const { hg_dir, fncache } = golden(`store/layout-${name}.json`, isLayout);
      const lines = (fncache ?? []).map(binaryLine).filter((line) => line !== '');
      const onDisk = hg_dir.map(({ path }) => path).filter((path) => /^store\/(data|meta|dh)\//.test(path));
      expect(storePaths(lines, 'dotencode').map((path) => `store/${path}`)).toEqual(onDisk.sort());
    },
  );

  it('gives the same for a store without dotencode, and without fncache, where names are plain', () => {
    for (const [name, encoding] of [
      ['fmt-nodotencode', 'fncache'],
      ['fmt-nofncache', 'store'],
    ] as const) {
      const paths = golden(`store/layout-${name}.json`, isLayout).hg_dir.map(({ path }) => path);
      for (const path of ['data/d/e/x.i', 'data/lines.i']) {
        expect(paths).toContain(`store/${encodeStorePath(path, encoding)}`);
      }
    }
  });
});

describe('the fast way and the whole way', () => {
  it('agree: a name that is spelled as it is stays so when a touched component is put before it', () => {
    for (const { path, dotencode } of rows) {
      const tail = path.slice(path.indexOf('/') + 1);
      const encoded = encodeStorePath(`data/X/${tail}`, 'dotencode');
      if (encoded.startsWith('dh/') || dotencode.startsWith('dh/') || !path.includes('/')) continue;
      expect(encoded).toBe(`data/_x/${dotencode.slice(dotencode.indexOf('/') + 1)}`);
    }
  });

  it('keeps names apart that differ by case, by underscore, or by an escape that is spelled out', () => {
    const names = ['A', 'a', '_a', '__a', '~41', 'A_', 'a_', '_A', 'a.', 'a~2e', ' a', '~20a', '.a', '~2ea'];
    const encoded = names.map((name) => encodeStorePath(`data/${name}/x.i`, 'dotencode'));
    expect(new Set(encoded).size).toBe(names.length);
    expect(new Set(encoded.map((path) => path.toLowerCase())).size).toBe(names.length);
  });

  it('never leaves a component that is empty, hidden, or climbs, whatever the name', () => {
    for (const name of ['.', '..', '...', '. ', '.. ', ' ', '.hg', '..hg']) {
      const encoded = encodeStorePath(`data/${name}/x.i`, 'dotencode');
      expect(encoded.split('/').filter((part) => part === '' || part.startsWith('.'))).toEqual([]);
    }
  });
});

describe('hashed paths', () => {
  const hashed = (path: string): string => encodeStorePath(path, 'dotencode');

  it('begins at 121 bytes, counted after encoding', () => {
    expect(hashed(`data/${'a'.repeat(113)}.i`)).toHaveLength(120);
    expect(hashed(`data/${'a'.repeat(114)}.i`)).toMatch(/^dh\//);
    expect(hashed(`data/${'A'.repeat(57)}.i`)).toMatch(/^dh\//);
  });

  it('is never longer than 120 bytes and keeps the extension', () => {
    for (const length of [114, 300, 4000]) {
      for (const depth of [1, 2, 7, 60]) {
        const path = hashed(`data/${`${'d'.repeat(Math.ceil(length / depth))}/`.repeat(depth)}file.d`);
        expect(path.length).toBeLessThanOrEqual(120);
        expect(path.endsWith('.d')).toBe(true);
      }
    }
  });

  it('keeps names apart that differ in their last byte only', () => {
    const paths = ['a', 'b', 'A', '_'].map((last) => hashed(`data/${'x/'.repeat(60)}${'y'.repeat(200)}${last}.i`));
    expect(new Set(paths).size).toBe(4);
  });

  it('lowers only ASCII: bytes of other alphabets are not letters here', () => {
    expect(hashed(`data/\xc0${'a'.repeat(150)}/x.i`)).toContain('/~c0aaaaa/');
  });
});

describe('directory encoding', () => {
  it('is undone by decoding, also where a folder is named like an encoded one', () => {
    for (const name of [
      'data/a.i/b.i',
      'data/a.i.hg/b.i',
      'data/.hg.hg/.d/.i/x.d',
      'data/x.d.hg.hg/y',
      'data/a.in/b.i',
    ]) {
      expect(directoryDecode(directoryEncode(name))).toBe(name);
    }
  });

  it('touches folders only', () => {
    expect(directoryEncode('data/x.i')).toBe('data/x.i');
    expect(directoryEncode('data/x.i/y.d/z.hg/w.hg')).toBe('data/x.i.hg/y.d.hg/z.hg.hg/w.hg');
  });
});
