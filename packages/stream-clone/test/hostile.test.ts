import { describe, expect, it } from '@jest/globals';
import { fixture, fixtures, seededRandom, tmpDir } from '@quicksilver/testing';
import { apply, refusal } from './support/apply.ts';
import { indexBytes, part, save, streamBundle } from './support/bundles.ts';

/** Accepted, since nothing in it is wrong for a clone; the number is that of the files written (three caches are not). */
const ACCEPTED: Readonly<Record<string, number>> = {
  // Its damage is inside a revision: the proof that follows finds it.
  's1-req-empty': 17,
  's2-corrupt-changelog': 7,
  's2-empty-requirements': 7,
  's2-filecount-zero': 0,
  's2-fingerprint-param': 7,
  's2-missing-generaldelta': 7,
};

/** The code with which everything else that speaks of streams or the container is refused. */
const REFUSED: Readonly<Record<string, string>> = {
  HG_TRUNCATED:
    'empty-file part-bookmarks-short part-chunk-huge part-header-short part-params-overrun s1-filecount-more s1-short-data s2-filecount-more s2-last-file-short trunc-packed1-at-3 trunc-packed1-at-30 trunc-packed1-at-5 trunc-packed1-at-7 trunc-packed1-at-half trunc-packed1-at-minus1 trunc-packed1-at-minus4 trunc-packed1-at-minus5 trunc-stream2-at-3 trunc-stream2-at-30 trunc-stream2-at-5 trunc-stream2-at-7 trunc-stream2-at-half trunc-stream2-at-minus1 trunc-stream2-at-minus4 trunc-stream2-at-minus5',
  HG_CORRUPT:
    'bad-zlib-data bad-zstd-data hg20-param-empty-name hg20-param-nonletter hg20-params-negative-size hg20-two-spaces part-chunk-negative part-duplicate-params part-header-negative part-phase-heads-bad-phase part-phase-heads-short s1-bytecount-wrong s1-filecount-less s1-no-nul s1-req-no-nul s1-size-nan s1-size-negative s1-size-spaces s2-bad-src s2-bytecount-less s2-bytecount-more s2-dup-large s2-filecount-less s2-filecount-nan s2-filecount-negative s2-missing-requirements s2-name-phaseroots s2-src-f s2-trailing s2-two-stream-parts',
  HG_LIMIT:
    'bomb-bzip2-64M bomb-gzip-64M hg20-params-huge-size part-header-huge s1-filecount-huge s2-varint-huge-data s2-varint-huge-name s2-varint-long',
  HG_NOT_BUNDLE: 'magic-PK',
  HG_UNSAFE_NAME:
    's1-name-absolute s1-name-dotdot s1-name-hgrc s1-name-requires s2-name-absolute s2-name-cache-anything s2-name-cache-dotdot s2-name-cache-subdir s2-name-datafile-noext s2-name-dh s2-name-dotdot s2-name-dotdot-deep s2-name-dothg s2-name-empty s2-name-file-as-dir s2-name-fncache s2-name-hgrc s2-name-journal s2-name-lock s2-name-newline s2-name-nul s2-name-requires s2-name-symlinkname s2-name-trailing-slash s2-name-undo',
  HG_REMOTE_ABORT: 'part-error-abort part-error-pushraced part-error-unsupported part-interrupt-error',
  HG_NOT_YET:
    'hg20-compression-twice hg20-lowercase-compression hg20-unknown-advisory-param no-end-marker part-obsmarkers-v9 part-remote-changegroup-file part-unknown-advisory-param trailing-garbage',
  HG_UNSUPPORTED:
    'hg10-unknown-compression hg20-unknown-compression hg20-unknown-mandatory-param hgs1-compression-GZ magic-HG2Y magic-HG30 part-bad-name-chars part-bookmarks-unknown-node part-duplicate-ids part-interrupt-empty part-interrupt-output part-mixed-case part-name-empty part-output-ansi part-phase-heads-unknown-node part-pushkey part-unknown-advisory part-unknown-mandatory part-unknown-mandatory-param s1-req-unknown s2-dup-case s2-dup-shorter-second s2-extra-mandatory-param s2-name-encoded s2-unknown-requirement',
};

const CODES = new Map(Object.entries(REFUSED).flatMap(([code, names]) => names.split(' ').map((name) => [name, code])));
const HOSTILE = fixtures(
  'hostile',
  /^(s1-|s2-|part-|hg20|hg10|hgs1|magic|no-end|trailing|trunc-(stream2|packed1)|empty|bomb|bad)/,
);

describe('hostile bundles', () => {
  it.each(HOSTILE)('$name has one outcome, with threads and without', async ({ name, path }) => {
    for (const threads of ['never', 'always'] as const) {
      const files = ACCEPTED[name];
      if (files !== undefined) {
        using applied = await apply(path, { threads });
        expect(applied.receipt.files).toBe(files);
        continue;
      }
      const refused = await refusal(path, { threads });
      expect(refused).toMatchObject({ code: CODES.get(name), unreadable: true, beside: ['root'] });
      expect(Object.keys(refused.where).length).toBeGreaterThan(0);
    }
  });
});

describe('what a stream may not do', () => {
  it.each(['never', 'always'] as const)('send a name twice (threads: %s)', async (threads) => {
    using dir = tmpDir();
    const twice = [indexBytes(200_000), indexBytes(100)].map((bytes) => ({ name: 'data/dir/twice.i', bytes }));
    expect(await refusal(save(dir, streamBundle(twice)), { threads })).toMatchObject({
      code: 'HG_CORRUPT',
      where: { name: 'data/dir/twice.i' },
      unreadable: true,
    });
  });

  it('send names that differ by case into one file', async () => {
    using dir = tmpDir();
    const names = ['data/dup.i', 'data/DUP.i', 'data/_d_u_p.i'].map((name) => ({ name, bytes: indexBytes(70) }));
    using applied = await apply(save(dir, streamBundle(names)));
    expect(applied.receipt.files).toBe(3);
  });

  it('use a file as a directory', async () => {
    using dir = tmpDir();
    const names = ['data/a.i', 'data/a.i/b.i'].map((name) => ({ name, bytes: indexBytes(70) }));
    using applied = await apply(save(dir, streamBundle(names)));
    expect(applied.receipt.files).toBe(2);
  });

  it('K010: hold a revlog of a version or with flags that are not known', async () => {
    using dir = tmpDir();
    for (const header of [0x0000_0000, 0x0000_0002, 0x0000_dead, 0x0100_0001]) {
      const bytes = indexBytes(70);
      bytes.writeUInt32BE(header);
      expect(await refusal(save(dir, streamBundle([{ name: '00changelog.i', bytes }])))).toMatchObject({
        code: 'HG_UNSUPPORTED',
        where: { file: '00changelog.i', header: `0x${header.toString(16)}` },
      });
    }
  });

  it.each([
    ['phaseroots', 'not a root\n'],
    ['bookmarks', 'nor a bookmark\n'],
    ['obsstore', '\x09later version'],
    ['obsstore', '\x01\x00\x00\x00\xff too short'],
  ])('leave a %s that locks up every hg', async (name, text) => {
    using dir = tmpDir();
    const bundle = streamBundle([{ name, bytes: Buffer.from(text, 'latin1') }], { requirements: ['bookmarksinstore'] });
    const refused = await refusal(save(dir, bundle));
    expect(['HG_CORRUPT', 'HG_TRUNCATED', 'HG_UNSUPPORTED']).toContain(refused.code);
    expect(refused.unreadable).toBe(true);
  });
});

describe('parts beside the stream', () => {
  const entries = [{ name: 'data/a.i', bytes: indexBytes(70) }];
  const node = Buffer.alloc(20, 0xab);

  it('bookmarks and phase heads are kept for the proof', async () => {
    using dir = tmpDir();
    const bookmark = Buffer.concat([
      node,
      Buffer.from([0, 4]),
      Buffer.from('main'),
      Buffer.alloc(20, 0xff),
      Buffer.from([0, 1, 0x78]),
    ]);
    const heads = Buffer.concat([Buffer.from([0, 0, 0, 1]), node]);
    const bundle = streamBundle(entries, { parts: [part('BOOKMARKS', bookmark), part('PHASE-HEADS', heads)] });
    using applied = await apply(save(dir, bundle));
    expect(applied.receipt.bookmarks).toEqual([{ name: 'main', node: node.toString('hex') }]);
    expect(applied.receipt.phaseHeads).toEqual([{ phase: 1, node: node.toString('hex') }]);
  });

  it('what would change a repository is ignored and said; caches are ignored', async () => {
    using dir = tmpDir();
    const parts = [
      part('pushkey', Buffer.alloc(0)),
      part('obsmarkers', node),
      part('hgtagsfnodes', node),
      part('whatever', node),
    ];
    using applied = await apply(save(dir, Buffer.concat([streamBundle(entries, { parts }), Buffer.from('tail')])));
    expect(applied.receipt.warnings).toEqual([
      'a part was ignored: pushkey',
      'a part was ignored: obsmarkers',
      'an unknown part was skipped: whatever',
      '4 bytes after the end of the bundle were ignored',
    ]);
  });

  it('a changegroup beside a stream is not passed over', async () => {
    using dir = tmpDir();
    const bundle = streamBundle(entries, { parts: [part('CHANGEGROUP', node)] });
    expect(await refusal(save(dir, bundle))).toMatchObject({ code: 'HG_NOT_YET', unreadable: true });
  });

  it('a flood of warnings is cut', async () => {
    using dir = tmpDir();
    const parts = Array.from({ length: 1_000 }, (_, i) => part(`advice-${i}`, Buffer.alloc(0)));
    using applied = await apply(save(dir, streamBundle(entries, { parts })));
    expect(applied.receipt.warnings).toHaveLength(101);
  });
});

describe.each(['fmt-default', 'basic-nonpub'])('%s cut short', (name) => {
  const bytes = fixture(`stream/${name}.stream-v2.hg`);

  it('is refused at each byte near a boundary and at 100 places elsewhere', async () => {
    using dir = tmpDir();
    const random = seededRandom(20);
    const near = [0, 4, 8, 12, 132, 136, 137, 138, 139, bytes.length - 8, bytes.length - 4];
    const cuts = new Set([
      ...near.flatMap((at) => [at - 2, at - 1, at, at + 1, at + 2]),
      ...Array.from({ length: 100 }, () => random.int(0, bytes.length)),
    ]);
    for (const cut of cuts) {
      if (cut < 0 || cut >= bytes.length) continue;
      const refused = await refusal(save(dir, bytes.subarray(0, cut)), { threads: 'never' });
      expect([cut, refused.code, refused.unreadable]).toEqual([cut, 'HG_TRUNCATED', true]);
    }
  });

  it('is refused by threads too', async () => {
    using dir = tmpDir();
    for (const cut of [140, bytes.length >> 1, bytes.length - 1]) {
      const refused = await refusal(save(dir, bytes.subarray(0, cut)), {
        threads: 'always',
        writers: 4,
        memoryTarget: 65_536,
      });
      expect(refused).toMatchObject({ code: 'HG_TRUNCATED', unreadable: true });
    }
  });

  it('never becomes another repository when a length in it is changed', async () => {
    using dir = tmpDir();
    const random = seededRandom(21);
    // Sizes of header and payload, the varints of the first entry.
    for (const at of [4, 5, 6, 7, 8, 9, 10, 11, 132, 133, 134, 135, 137, 138, 139]) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << random.int(0, 8));
      const refused = await refusal(save(dir, flipped), { threads: 'never' });
      expect(refused.code).toMatch(/^HG_(?!INTERNAL)/);
      expect(refused.unreadable).toBe(true);
    }
  });
});
