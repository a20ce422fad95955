import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fixturePath, fixtures, type HgSession, realHg } from '@quicksilver/testing';
import { apply } from './support/apply.ts';

interface Stock {
  readonly apply_exit: number;
  readonly verify_exit: number;
  readonly heads?: readonly string[];
  readonly phases?: Readonly<Record<string, number>>;
}

const GOOD = [...fixtures('stream', /^(?!fmt-clv2).*\.stream-v2\.hg$/), ...fixtures('hg6', /\.stream-v2\.hg$/)];

describe.each(realHg())('stock hg $version', (hg) => {
  let session: HgSession;
  beforeAll(async () => {
    session = await hg.session();
  });
  afterAll(async () => {
    await session[Symbol.asyncDispose]();
  });

  it.each(GOOD)('agrees on $name', async ({ path, sidecar }) => {
    // A release is judged by what a release of its line did with the bundle itself.
    const line = hg.version.startsWith('6') ? 'hg6.3.2' : 'hg7.2.4';
    const stock = (sidecar as Record<string, Stock>)[line];
    if (stock === undefined || stock.apply_exit !== 0) return;
    using applied = await apply(path);
    const verified = await session.run(['-R', applied.root, 'verify', '-q']);
    expect([verified.code, verified.stderr]).toEqual([stock.verify_exit, expect.any(String)]);
    if (stock.verify_exit === 0) expect(verified.stdout + verified.stderr).not.toMatch(/warning: .*(fncache|orphan)/);
    const heads = await session.run(['-R', applied.root, 'heads', '-c', '-t', '-T', '{node}\n']);
    expect(heads.stdout.split('\n').filter(Boolean).sort()).toEqual([...(stock.heads ?? [])].sort());
  });

  it('agrees on a real history, in place and after a pull from it', async () => {
    using applied = await apply(fixturePath('histories/cinnabar.stream-v2.hg'));
    expect(await session.run(['-R', applied.root, 'verify', '-q'])).toMatchObject({ code: 0 });
    const copy = `${applied.root}-pulled`;
    expect(await session.run(['clone', '-q', '-U', '--pull', applied.root, copy])).toMatchObject({ code: 0 });
    const ask = async (root: string): Promise<string> =>
      (await session.run(['-R', root, 'log', '-T', '{node}\n'])).stdout;
    expect((await ask(copy)).split('\n').sort()).toEqual((await ask(applied.root)).split('\n').sort());
  });
});
