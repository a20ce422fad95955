import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cloneLocal } from '@quicksilver/mirror';
import { type Fixture, fixtures, type HgSession, realHg, tmpDir } from '@quicksilver/testing';
import { commitFile, repositoryAt, unbundled, workIn } from '../harness/side-by-side.ts';

/** What a version of hg did with a fixture. */
interface Verdict {
  readonly apply_exit: number;
  readonly verify_exit?: number;
}

const GOOD = [...fixtures('stream', /\.(stream-v[23]|packed1)\.hg$/), ...fixtures('hg6', /\.(stream-v2|packed1)\.hg$/)];
const HISTORY = fixtures('histories', /\.stream-v2\.hg$/);

/** Experimental, and read by no version as the other writes it: refused by name. */
const REFUSED = /^fmt-clv2/;
/** Without it hg refuses its own stream, since the store has obsolescence markers. */
const CONFIG: Readonly<Record<string, readonly string[]>> = {
  'obs.stream-v2': ['experimental.evolution=createmarkers,exchange'],
};

function verdict(fixture: Fixture, version: string): Verdict {
  const { sidecar } = fixture;
  const known = typeof sidecar === 'object' && sidecar !== null ? (sidecar as Record<string, unknown>) : {};
  return (known[`hg${version}`] as Verdict | undefined) ?? { apply_exit: 0 };
}

async function clone(source: string, dest: string): Promise<void> {
  const signal = AbortSignal.timeout(20_000);
  await cloneLocal({ source: { kind: 'bundle-file', path: source }, dest, settings: {}, flush: false, signal });
}

describe.each(realHg().map((hg) => ({ version: hg.version, hg })))('stock hg $version', ({ version, hg }) => {
  let session: HgSession;
  beforeAll(async () => {
    session = await hg.session();
  });
  afterAll(async () => await session[Symbol.asyncDispose]());

  const accepted = GOOD.filter((each) => verdict(each, version).apply_exit === 0 && !REFUSED.test(each.name));

  it.each(accepted)('sees what its own unbundle gives, and works in it: $name', async (fixture) => {
    using dir = tmpDir('stock');
    const config = CONFIG[fixture.name] ?? [];
    const reference = await unbundled(session, fixture.path, { path: dir.join('reference'), config });
    await clone(fixture.path, dir.join('ours'));
    const ours = repositoryAt(session, dir.join('ours'), config);
    expect(await ours.facts()).toEqual(await reference.facts());
    const verified = await ours.hg('verify');
    expect(verified.code).toBe((await reference.hg('verify')).code);
    expect(verified.code).toBe(verdict(fixture, version).verify_exit ?? 0);

    expect(await workIn(ours)).toEqual(await workIn(reference));
    expect(await commitFile(reference, 'zz-later')).toBe(0);
    const pulled = await ours.hg('pull', reference.path);
    expect({ code: pulled.code, stderr: pulled.stderr }).toEqual({ code: 0, stderr: '' });
    const nodes = async (of: typeof ours) => (await of.hg('log', '-T', '{node}\n')).stdout;
    expect(await nodes(ours)).toBe(await nodes(reference));
  });

  it.each(HISTORY)('agrees about a real history: $name', async (fixture) => {
    using dir = tmpDir('history');
    const reference = await unbundled(session, fixture.path, { path: dir.join('reference') });
    await clone(fixture.path, dir.join('ours'));
    const ours = repositoryAt(session, dir.join('ours'));
    expect(await ours.facts()).toEqual(await reference.facts());
    // Its subrepository state is odd in places, and hg says so of both.
    const verified = await ours.hg('verify');
    expect(verified).toEqual(await reference.hg('verify'));
    expect(verified.code).toBe(0);
  });
});

describe('a format that no other version of hg reads', () => {
  it.each(GOOD.filter(({ name }) => REFUSED.test(name)))('is refused by name, leaving nothing: $name', async (each) => {
    using dir = tmpDir('refused');
    const refused = clone(each.path, dir.join('ours'));
    await expect(refused).rejects.toMatchObject({ code: 'HG_UNSUPPORTED', message: expect.any(String) });
    expect(readdirSync(dir.path)).toEqual([]);
  });
});
