import { describe, expect, it } from '@jest/globals';
import { auditStreamName, directoryEncode, encodeStorePath } from '@quicksilver/store';
import { seededRandom } from '@quicksilver/testing';
import { chooseClosing, chooseWriters, closingReceipt, DEFAULT_MEMORY_TARGET, planBlocks } from '../src/settings.ts';
import { StorePaths } from '../src/store-paths.ts';

describe('planBlocks', () => {
  it.each([1, 4_096, 65_536, 100_000, 2 ** 20, DEFAULT_MEMORY_TARGET, 2 ** 33, Number.MAX_SAFE_INTEGER])(
    'keeps within a target of %i bytes, with two blocks at least',
    (target) => {
      for (const size of [0, 1, 70_000, 2 ** 20, 2 ** 34]) {
        const { blockSize, count } = planBlocks(target, size);
        expect(count).toBeGreaterThanOrEqual(2);
        expect(Number.isInteger(blockSize) && Number.isInteger(count)).toBe(true);
        expect(blockSize * count).toBeLessThanOrEqual(Math.max(target, 2 * 4_096));
        expect(blockSize * count).toBeLessThanOrEqual(2 ** 30);
      }
    },
  );

  it('takes no more than the input can use', () => {
    expect(planBlocks(DEFAULT_MEMORY_TARGET, 10)).toMatchObject({ count: 2 });
  });
});

describe('chooseWriters', () => {
  const small = { fileCount: 100, byteCount: 1_000 };
  const large = { fileCount: 50_000, byteCount: 1e8 };

  it('starts no thread for a small stream, whatever was asked, unless it must', () => {
    expect(chooseWriters({}, small)).toMatchObject({ threads: 0, writers: 1 });
    expect(chooseWriters({ writers: 4 }, small)).toMatchObject({ threads: 0 });
    expect(chooseWriters({ writers: 4, threads: 'always' }, small)).toMatchObject({ threads: 4, writers: 4 });
    expect(chooseWriters({ threads: 'never' }, large)).toMatchObject({ threads: 0 });
  });

  it('takes as many as asked, else two at most', () => {
    expect(chooseWriters({ writers: 3 }, large)).toMatchObject({ threads: 3, help: false, writers: 3 });
    expect(chooseWriters({}, large).writers).toBeLessThanOrEqual(2);
    expect(chooseWriters({}, large).why).not.toBe('');
  });
});

describe('chooseClosing', () => {
  const options = { source: { kind: 'file', path: 'x' }, root: 'y', signal: new AbortController().signal } as const;
  const many = { fileCount: 5_000 };

  it('measures by default, from 2048 files on', () => {
    expect(chooseClosing(options, many)).toMatchObject({ mode: 'auto', closing: { mode: 'auto', files: 5_000 } });
    expect(chooseClosing(options, { fileCount: 2_048 }).mode).toBe('auto');
    expect(chooseClosing(options, { fileCount: 2_047 })).toMatchObject({ mode: 'off', why: 'fewer than 2048 files' });
    expect(chooseClosing({ ...options, backgroundCloseMinFileCount: 0 }, { fileCount: 0 }).mode).toBe('auto');
  });

  it('does what is asked, and says so', () => {
    const off = chooseClosing({ ...options, backgroundClose: 'off' }, many);
    expect(closingReceipt(off, undefined)).toEqual({ mode: 'off', closers: 0, maxQueue: 0, why: 'off, as asked' });
    const never = chooseClosing({ ...options, backgroundClose: 'on', threads: 'never' }, many);
    expect(never).toMatchObject({ mode: 'off', why: 'no threads, as asked' });
    const asked = { backgroundCloseThreadCount: 7, backgroundCloseMaxQueue: 9, backgroundClose: 'on' } as const;
    const on = chooseClosing({ ...options, ...asked }, many);
    expect(on.closing).toMatchObject({ mode: 'on', threads: 7, maxQueue: 9 });
    const facts = { closers: 7, maxQueue: 9, why: 'as asked' };
    expect(closingReceipt(on, facts)).toEqual({ mode: 'on', ...facts });
  });
});

describe('StorePaths', () => {
  const PARTS = [
    'a',
    'Abc',
    'd_e',
    'aux',
    'con.x',
    '.hidden',
    ' lead',
    'trail ',
    'x.i',
    'y.d',
    'z.hg',
    '\xe9',
    'long'.repeat(9),
    'a~b',
    ':',
    '00manifest',
  ];

  it('finds the same as looking at each name alone', () => {
    const random = seededRandom(4);
    const paths = new StorePaths();
    const names = Array.from({ length: 4_000 }, () => {
      const folders = Array.from({ length: random.int(0, 5) }, () => random.pick(PARTS));
      return [random.pick(['data', 'meta']), ...folders, random.pick(PARTS) + random.pick(['.i', '.d'])].join('/');
    });
    const withRoots = [
      ...names,
      ...names.sort(),
      '00changelog.i',
      'phaseroots',
      '00changelog.n',
      'meta/x/00manifest.n',
    ];
    for (const name of withRoots) {
      const { kind, directory, base, listedDirectory, listedBase } = paths.plan(name);
      expect([name, kind, directory + base]).toEqual([
        name,
        auditStreamName('s', name),
        encodeStorePath(name, 'dotencode'),
      ]);
      expect(listedDirectory + listedBase).toBe(directoryEncode(name));
    }
  });

  it.each([
    'data/../x.i',
    'data/.hg/hgrc.i',
    'data/a//b.i',
    'data/.i',
    'data/a/.i',
    'data/a/b\n.i',
    'data/a/..i/../b.i',
    'dh/x.i',
    'x.i',
    '',
  ])('refuses %j by its own name, first and second in its directory', (name) => {
    const paths = new StorePaths();
    for (const _ of [1, 2]) {
      expect(() => paths.plan(name)).toThrow(expect.objectContaining({ code: 'HG_UNSAFE_NAME' }));
      paths.plan('data/a/fine.i');
    }
  });
});
