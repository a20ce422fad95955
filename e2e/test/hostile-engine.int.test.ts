import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { faultRecord } from '@quicksilver/hg-types';
import { cloneLocal } from '@quicksilver/mirror';
import { fixture, fixtures, type HgSession, newestHg, seededRandom, tmpDir } from '@quicksilver/testing';

/** The kinds of damage that a stream bundle or its container can have. */
const STREAMS = fixtures(
  'hostile',
  /^(s1-|s2-|part-|hg20-|hg10-|hgs1-|magic-|trunc-stream2|trunc-packed1|bad-|bomb-|empty-file|no-end|trailing)/,
);
/** Unusual, and still sound: what is missing can be told from the data, and what is unknown is advisory. */
const ACCEPTED = new Set([
  's1-req-empty',
  's2-empty-requirements',
  's2-missing-generaldelta',
  's2-filecount-zero',
  's2-fingerprint-param',
]);
/** Each attempt ends within this time, whatever the input. */
const DEADLINE = 10_000;

async function attempt(source: string, dest: string): Promise<unknown> {
  const signal = AbortSignal.timeout(DEADLINE);
  try {
    await cloneLocal({ source: { kind: 'bundle-file', path: source }, dest, settings: {}, flush: false, signal });
    return undefined;
  } catch (error) {
    if (signal.aborted) throw new Error('the attempt hung', { cause: error });
    return error;
  }
}

function expectTyped(error: unknown): void {
  const record = faultRecord(error);
  expect(record.code).toMatch(/^HG_/);
  expect(['HG_INTERNAL', 'HG_CLOSED', 'HG_WORKER_LOST', 'HG_CANCELLED']).not.toContain(record.code);
  expect(record.message).not.toMatch(/\n\s+at /);
  expect(record.advice.length).toBeGreaterThan(10);
}

describe('hostile input', () => {
  let session: HgSession;
  beforeAll(async () => {
    session = await newestHg().session();
  });
  afterAll(async () => await session[Symbol.asyncDispose]());

  it.each(STREAMS.filter(({ name }) => !ACCEPTED.has(name)))('is refused, alike each time: $name', async (each) => {
    using dir = tmpDir('hostile');
    const first = await attempt(each.path, dir.join('repo'));
    expectTyped(first);
    expect(readdirSync(dir.path)).toEqual([]);
    const second = await attempt(each.path, dir.join('repo'));
    const facts = ({ code, message }: ReturnType<typeof faultRecord>) => ({ code, message });
    expect(facts(faultRecord(second))).toEqual(facts(faultRecord(first)));
  });

  it.each(STREAMS.filter(({ name }) => ACCEPTED.has(name)))(
    'is accepted where it is only unusual: $name',
    async (each) => {
      using dir = tmpDir('hostile');
      expect(await attempt(each.path, dir.join('repo'))).toBeUndefined();
      expect(await session.run(['-R', dir.join('repo'), 'verify'])).toMatchObject({ code: 0 });
    },
  );
});

describe('a sound bundle', () => {
  const random = seededRandom(0x5eed);
  const bytes = fixture('stream/fmt-default.stream-v2.hg');

  it('is refused when it is cut anywhere, leaving nothing', async () => {
    using dir = tmpDir('cut');
    const places = Array.from({ length: 100 }, () => random.int(0, bytes.length));
    for (const at of places) {
      writeFileSync(dir.join('cut.hg'), bytes.subarray(0, at));
      const error = await attempt(dir.join('cut.hg'), dir.join('repo'));
      expect(faultRecord(error).code).toMatch(/^HG_(TRUNCATED|NOT_BUNDLE)$/);
      expect(readdirSync(dir.path)).toEqual(['cut.hg']);
    }
  });

  it('is refused or comes out whole when a byte flips, and never hangs', async () => {
    using dir = tmpDir('flip');
    for (let i = 0; i < 100; i++) {
      const damaged = Buffer.from(bytes);
      const at = random.int(0, 400);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << random.int(0, 8));
      writeFileSync(dir.join('flip.hg'), damaged);
      const error = await attempt(dir.join('flip.hg'), dir.join(`repo${i}`));
      if (error !== undefined) expectTyped(error);
      expect(existsSync(dir.join(`repo${i}`))).toBe(error === undefined);
    }
  });
});
