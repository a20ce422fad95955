import { describe, expect, it } from '@jest/globals';
import { HgError } from '@quicksilver/hg-types';
import { fixture, fixtures } from '@quicksilver/testing';
import { auditStreamName, encodeStorePath, type VfsKey } from '../src/index.ts';
import { streamNames } from './stream-names.ts';

function verdict(vfsKey: VfsKey, name: string): string {
  try {
    return auditStreamName(vfsKey, name);
  } catch (err) {
    return err instanceof HgError ? err.code : 'not a typed error';
  }
}

const vfsKeyOf = (key: string): VfsKey => (key === 'c' ? 'c' : 's');

describe('names of good streams', () => {
  it.each(
    fixtures('stream', /stream-v2/)
      .concat(fixtures('hg6', /stream-v2/))
      .map((f) => [f.name, f] as const),
  )('lets every name of %s pass, but for files of formats that are refused by requirement', (name, { bytes }) => {
    const refused = streamNames(bytes).filter((file) => verdict(vfsKeyOf(file.vfsKey), file.name).startsWith('HG_'));
    expect(refused.map((file) => file.name)).toEqual(
      name.startsWith('fmt-clv2')
        ? [
            expect.stringMatching(/^00changelog-.*\.sda$/),
            expect.stringMatching(/^00changelog-.*\.idx$/),
            expect.stringMatching(/^00changelog-.*\.dat$/),
          ]
        : [],
    );
  });

  it('drops nodemap files, which a repository without their requirement does not keep', () => {
    const names = streamNames(fixture('stream/fmt-nodemap.stream-v2.hg')).map(({ name }) => name);
    const dropped = names.filter((name) => verdict('s', name) === 'drop');
    expect(dropped).toEqual(['00changelog.n', '00changelog-bfb0186a.nd']);
    expect(verdict('s', 'meta/d/e/00manifest.n')).toBe('drop');
    expect(verdict('s', 'meta/d/e/00manifest-0123abcd.nd')).toBe('drop');
  });

  it('tells revlogs of tracked files from files at the root', () => {
    expect(verdict('s', 'data/a.i')).toBe('revlog');
    expect(verdict('s', 'data/a.d')).toBe('revlog');
    expect(verdict('s', 'meta/dir/00manifest.i')).toBe('revlog');
    for (const name of [
      '00changelog.i',
      '00changelog.d',
      '00manifest.i',
      '00manifest.d',
      'phaseroots',
      'obsstore',
      'bookmarks',
    ]) {
      expect(verdict('s', name)).toBe('store-root');
    }
  });

  it('names the docket files of later formats as unsupported rather than as hostile', () => {
    expect(verdict('s', '00changelog-e819536a.idx')).toBe('HG_UNSUPPORTED');
  });
});

describe('K048: tracked files that are named like control files', () => {
  const tracked = [
    '00changelog.i',
    '00manifest.d',
    'undo.x',
    'undo.d',
    'undo',
    'journal',
    'foo.n',
    'foo.nd',
    'fncache',
    'requires',
    'hgrc',
    'lock',
    'phaseroots',
    'data',
    'meta',
    'dh/x',
    'data/undo.d',
    'data/00changelog.i',
    'meta/00manifest.i',
    'foo.i/bar',
    'foo.d/bar',
    'foo.hg/bar',
    'foo.i.hg/bar',
    'x.i',
    'x.d',
    '.hgtags',
    '.hgsub',
    '.hgignore',
    '.hgrc',
    '.hgx/y',
    'x.hg',
    '.hg~',
    '.hg.orig/x',
    'hg~1.txt',
    'HG~',
    '~',
    'a~1',
    '...',
    '..a',
    'a..',
    '.a',
    'a.',
    ' ',
    '. ',
    'caf\xc3\xa9',
    '\xe6\x97\xa5\xe6\x9c\xac/\xe3\x83\x95.txt',
    'latin1-\xe9',
    '\xff\xfe',
    '\x01\x1f\x7f',
    'tab\there',
    'C:\\windows',
    'a\\b',
    'con',
    'AUX',
    'a:b*c?"<>|',
    '-rf',
    '$(x)',
    '%00',
    '#',
    'a b',
    // Code points that HFS+ ignores are letters like others where they disguise nothing.
    '\xe2\x80\x8dzwj',
    'family\xe2\x80\x8d',
    '\xef\xbb\xbfbom.txt',
    '.\xe2\x80\x8cgit',
    'p'.repeat(300),
    `${'d/'.repeat(300)}x`,
    'n'.repeat(4000),
  ];

  it.each(tracked.map((path) => [path.slice(0, 40), path] as const))('lets %p pass', (_, path) => {
    expect(verdict('s', `data/${path}.i`)).toBe('revlog');
    expect(verdict('s', `data/${path}.d`)).toBe('revlog');
  });

  it('puts each into a place of its own below data/ or dh/', () => {
    const places = tracked.map((path) => encodeStorePath(`data/${path}.i`, 'dotencode'));
    expect(new Set(places).size).toBe(tracked.length);
    expect(places.filter((place) => !/^(data|dh)\//.test(place))).toEqual([]);
  });
});

describe('hostile names', () => {
  const EXPECTED: Readonly<Record<string, string>> = {
    'name-datafile-noext': 'HG_UNSAFE_NAME',
    'name-encoded': 'revlog', // `_u_p` is a name that a file can have
  };

  it.each(fixtures('hostile', /^s2-name-/).map((f) => [f.name, f] as const))(
    'answers %s with its verdict',
    (name, { bytes }) => {
      // The one name that was put in front of those of a good stream; `phaseroots` is bad by its content only.
      const first = streamNames(bytes)[0];
      const expected =
        name === 's2-name-phaseroots' ? 'store-root' : (EXPECTED[name.slice('s2-'.length)] ?? 'HG_UNSAFE_NAME');
      expect(first && verdict(vfsKeyOf(first.vfsKey), first.name)).toBe(expected);
    },
  );

  it.each([
    ['traversal', 'data/../../hgrc.i'],
    ['traversal at the end', 'data/a/...i'],
    ['a component that is a dot', 'data/./a.i'],
    ['an absolute path', '/etc/passwd.i'],
    ['an absolute path below data', 'data//etc/passwd.i'],
    ['an empty component', 'data/a//b.i'],
    ['a trailing slash', 'data/a/.i'],
    ['nothing between prefix and suffix', 'data/.i'],
    ['NUL', 'data/a\0b.i'],
    ['line feed', 'data/a\nb.i'],
    ['carriage return', 'data/a\rb.i'],
    ['a character that is no byte', 'data/a\u012f..\u012fb.i'],
    ['.hg', 'data/.hg/hgrc.i'],
    ['.hg, other case', 'data/.Hg/hgrc.i'],
    ['.hg inside', 'data/sub/.hg/hgrc.i'],
    ['.hg as a file', 'data/.hg.i'],
    ['.hg with a dot after it', 'data/.HG./hgrc.i'],
    ['.hg with what HFS+ ignores', 'data/.h\xe2\x80\x8cg/hgrc.i'],
    ['.hg after what HFS+ ignores', 'data/\xef\xbb\xbf.hg/hgrc.i'],
    ['.hg by its short name', 'data/HG~1/hgrc.i'],
    ['.hg by its other short name', 'data/a/hg8b6c~23/x.i'],
    ['.hg in a tree manifest', 'meta/.hg/00manifest.i'],
    ['no prefix', 'hgrc.i'],
    ['another prefix', 'datax/a.i'],
    ['a hashed path', 'dh/abc.i'],
    ['another suffix', 'data/a.n'],
    ['a nodemap below data', 'data/a-0123abcd.nd'],
    ['a split under way', 'data-s/a.i'],
    ['a changelog under way', '00changelog.i.a'],
    ['upper case', '00CHANGELOG.i'],
    ['requires', 'requires'],
    ['fncache', 'fncache'],
    ['file index', 'fileindex'],
    ['journal', 'journal'],
    ['undo', 'undo.phaseroots'],
    ['lock', 'lock'],
    ['empty', ''],
  ])('refuses %s', (_, name) => {
    expect(verdict('s', name)).toBe('HG_UNSAFE_NAME');
  });

  it.each([
    'totally-new',
    '../hgrc',
    '/etc/passwd',
    'sub/branch2',
    'branch2/',
    '',
    'branch2-secret',
    'BRANCH2',
    'data/a.i',
    'checkisexec',
  ])('refuses the cache file %p', (name) => expect(verdict('c', name)).toBe('HG_UNSAFE_NAME'));

  it('takes caches of this and of former versions of hg', () => {
    for (const name of [
      'branch2',
      'branch2-served',
      'branch2-served.hidden',
      'branch3-base',
      'rbc-names-v1',
      'rbc-revs-v2',
      'tags2-visible',
      'hgtagsfnodes1',
    ]) {
      expect(verdict('c', name)).toBe('cache');
    }
  });

  it('refuses a name that no working copy can hold', () => {
    expect(verdict('s', `data/${'n'.repeat(4100)}.i`)).toBe('HG_LIMIT');
  });

  it('shows the name readably and without control characters', () => {
    expect(() => auditStreamName('s', 'data/caf\xc3\xa9\x1b[31m/../x.i')).toThrow(
      expect.objectContaining({ where: { name: 'data/café\\x1b[31m/../x.i', source: 's' } }),
    );
  });
});

describe('K050: names that differ by case only', () => {
  it('are two files in the store, on every file system', () => {
    const paths = ['data/Readme.i', 'data/README.i', 'data/readme.i'].map((name) => {
      expect(verdict('s', name)).toBe('revlog');
      return encodeStorePath(name, 'dotencode').toLowerCase();
    });
    expect(new Set(paths).size).toBe(3);
  });
});
