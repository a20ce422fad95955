import { describe, expect, it } from '@jest/globals';
import { decompressStream } from '@quicksilver/codec';
import { fixtures, seededRandom } from '@quicksilver/testing';
import { type BundleHeader, readBundleHeader } from '../src/index.ts';
import { codeOfAsync, type Outcome, outcomeOf } from './support/reading.ts';

/**
 * What becomes of each hostile bundle as far as container, streams, phase heads and bookmarks reach. 'ok' is a
 * decision too: these layers have nothing to say against it.
 */
const DECISIONS: Readonly<Record<string, string>> = {
  // How it begins.
  'empty-file': 'HG_TRUNCATED',
  'magic-HG2Y': 'HG_UNSUPPORTED',
  'magic-HG30': 'HG_UNSUPPORTED',
  'magic-PK': 'HG_NOT_BUNDLE',
  'hg10-unknown-compression': 'HG_UNSUPPORTED',
  'hgs1-compression-GZ': 'HG_UNSUPPORTED',

  // Stream parameters: advisory ones and case are harmless, the last of two counts.
  'hg20-compression-twice': 'ok',
  'hg20-lowercase-compression': 'ok',
  'hg20-unknown-advisory-param': 'ok',
  'hg20-param-empty-name': 'HG_CORRUPT',
  'hg20-param-nonletter': 'HG_CORRUPT',
  'hg20-two-spaces': 'HG_CORRUPT',
  'hg20-params-negative-size': 'HG_CORRUPT',
  'hg20-params-huge-size': 'HG_LIMIT',
  'hg20-unknown-compression': 'HG_UNSUPPORTED',
  'hg20-unknown-mandatory-param': 'HG_UNSUPPORTED',

  // Compressed data. The gzip bomb hides behind a part header that no part can have.
  'bad-zlib-data': 'HG_CORRUPT',
  'bad-zstd-data': 'HG_CORRUPT',
  'bomb-bzip2-64M': 'HG_LIMIT',
  'bomb-gzip-64M': 'HG_LIMIT',

  // Parts. Ids and illegal characters are the writer's affair; an advisory part may be called anything.
  'part-bad-name-chars': 'ok',
  'part-name-empty': 'ok',
  'part-duplicate-ids': 'ok',
  'part-unknown-advisory': 'ok',
  'part-unknown-advisory-param': 'ok',
  'part-duplicate-params': 'HG_CORRUPT',
  'part-mixed-case': 'HG_UNSUPPORTED',
  'part-unknown-mandatory': 'HG_UNSUPPORTED',
  'part-unknown-mandatory-param': 'HG_UNSUPPORTED',
  'part-header-huge': 'HG_LIMIT',
  'part-header-negative': 'HG_CORRUPT',
  'part-header-short': 'HG_TRUNCATED',
  'part-params-overrun': 'HG_TRUNCATED',
  'part-chunk-huge': 'HG_TRUNCATED',
  'part-chunk-negative': 'HG_CORRUPT',
  'no-end-marker': 'HG_TRUNCATED',
  'trailing-garbage': 'ok',

  // Interrupts, what the other side says.
  'part-interrupt-empty': 'ok',
  'part-interrupt-output': 'ok',
  'part-output-ansi': 'ok',
  'part-interrupt-error': 'HG_REMOTE_ABORT',
  'part-error-abort': 'HG_REMOTE_ABORT',
  'part-error-pushraced': 'HG_REMOTE_ABORT',
  'part-error-unsupported': 'HG_REMOTE_ABORT',

  // Contents of small parts. Whether a node exists is known only once the store is there.
  'part-bookmarks-short': 'HG_TRUNCATED',
  'part-bookmarks-unknown-node': 'ok',
  'part-phase-heads-bad-phase': 'HG_CORRUPT',
  'part-phase-heads-short': 'HG_CORRUPT',
  'part-phase-heads-unknown-node': 'ok',
  'part-obsmarkers-v9': 'ok',
  'part-pushkey': 'ok',
  'part-remote-changegroup-file': 'ok',

  // Streams. The duplicates also add up to more than was announced, which comes out first.
  's2-bad-src': 'HG_CORRUPT',
  's2-src-f': 'HG_CORRUPT',
  's2-bytecount-less': 'HG_CORRUPT',
  's2-bytecount-more': 'HG_CORRUPT',
  's2-dup-case': 'HG_CORRUPT',
  's2-dup-large': 'HG_CORRUPT',
  's2-dup-shorter-second': 'HG_CORRUPT',
  's2-filecount-less': 'HG_CORRUPT',
  's2-filecount-more': 'HG_TRUNCATED',
  's2-filecount-nan': 'HG_CORRUPT',
  's2-filecount-negative': 'HG_CORRUPT',
  's2-filecount-zero': 'ok',
  's2-fingerprint-param': 'ok',
  's2-extra-mandatory-param': 'HG_UNSUPPORTED',
  's2-empty-requirements': 'ok',
  's2-missing-generaldelta': 'ok',
  's2-missing-requirements': 'HG_CORRUPT',
  's2-unknown-requirement': 'ok',
  's2-corrupt-changelog': 'ok',
  's2-two-stream-parts': 'ok',
  's2-last-file-short': 'HG_TRUNCATED',
  's2-trailing': 'HG_CORRUPT',
  's2-varint-huge-data': 'HG_LIMIT',
  's2-varint-huge-name': 'HG_LIMIT',
  's2-varint-long': 'HG_LIMIT',
  's2-name-empty': 'HG_UNSAFE_NAME',

  // Streams of version 1. Numbers are digits and nothing else.
  's1-bytecount-wrong': 'HG_CORRUPT',
  's1-filecount-huge': 'HG_LIMIT',
  's1-filecount-less': 'HG_CORRUPT',
  's1-filecount-more': 'HG_TRUNCATED',
  's1-no-nul': 'HG_CORRUPT',
  's1-req-empty': 'ok',
  's1-req-no-nul': 'HG_CORRUPT',
  's1-req-unknown': 'ok',
  's1-short-data': 'HG_TRUNCATED',
  's1-size-nan': 'HG_CORRUPT',
  's1-size-negative': 'HG_CORRUPT',
  's1-size-spaces': 'HG_CORRUPT',
};

/** Whole families, where no line of its own stands above. */
const FAMILIES: readonly (readonly [pattern: RegExp, code: string])[] = [
  [/^cg-/, 'ok'], // what a changegroup holds is read by whoever applies it
  [/^s[12]-name-/, 'ok'], // names are audited by whoever knows the store
  [/^trunc-cg-none-v1-/, 'ok'],
  [/^trunc-/, 'HG_TRUNCATED'],
];

function decision(name: string): string {
  const code = DECISIONS[name] ?? FAMILIES.find(([pattern]) => pattern.test(name))?.[1];
  if (code === undefined) throw new Error(`nothing is decided about ${name}`);
  return code;
}

/** The bytes with their body decompressed and their header replaced by one that says so. */
async function plain(bytes: Uint8Array, header: BundleHeader): Promise<Uint8Array> {
  if (header.kind === 'HGS1' || header.compression === 'none') return bytes;
  async function* body(): AsyncGenerator<Uint8Array> {
    yield bytes.subarray(header.bodyOffset);
  }
  const pieces: Uint8Array[] = [Buffer.from('HG20\0\0\0\0', 'latin1')];
  for await (const piece of decompressStream(header.compression, body())) pieces.push(piece);
  return new Uint8Array(Buffer.concat(pieces));
}

const random = seededRandom(11);
const FEEDS: readonly (readonly [string, (bytes: Uint8Array) => Outcome])[] = [
  ['whole', (bytes) => outcomeOf(bytes)],
  ['in random pieces', (bytes) => outcomeOf(bytes, () => random.int(1, 900))],
  ['byte by byte', (bytes) => outcomeOf(bytes, () => 1)],
];

describe.each(fixtures('hostile'))('$name', ({ name, bytes: buffer }) => {
  const bytes = new Uint8Array(buffer);

  it(`comes to ${decision(name)}, the same however it is fed`, async () => {
    let input: Uint8Array = bytes;
    const early = await codeOfAsync(async () => {
      const header = readBundleHeader(bytes, true);
      if (header) input = await plain(bytes, header);
    });
    if (early !== 'ok') {
      expect(early).toBe(decision(name));
      return;
    }
    const [whole, ...others] = FEEDS.filter((_, i) => i < 2 || input.length < 30_000).map(([, feed]) => feed(input));
    expect(whole?.code).toBe(decision(name));
    for (const other of others) expect(other).toEqual(whole);
  });
});

describe('hostile text and counts', () => {
  const outcome = (name: string): Outcome => {
    const [found] = fixtures('hostile', new RegExp(`^${name}\\.hg$`));
    return outcomeOf(new Uint8Array(found?.bytes ?? Buffer.alloc(0)));
  };

  it('output cannot drive a terminal', () => {
    expect(outcome('part-output-ansi').output).toEqual(['\\x1b[31mred\\x1b[0m', 'second']);
    expect(outcome('part-interrupt-output').output).toEqual(['hello from interrupt']);
  });

  it('an error part speaks with the words of its writer', () => {
    expect(outcome('part-error-abort').where).toMatchObject({ message: 'go away', hint: 'try later' });
    expect(outcome('part-error-unsupported').where).toMatchObject({ parttype: 'foo', params: 'a, b' });
  });

  it('bytes behind the end marker are counted', () => {
    expect(outcome('trailing-garbage').trailing).toBe(7);
  });

  it('each decision is about a fixture that is there', () => {
    const names = new Set(fixtures('hostile').map(({ name }) => name));
    expect(Object.keys(DECISIONS).filter((name) => !names.has(name))).toEqual([]);
  });
});
