import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fixturePath, type HgSession, realHg, tmpDir, treeEntries } from '@quicksilver/testing';
import { apply } from './support/apply.ts';
import { GOOD_STREAMS } from './support/streamed.ts';

interface Stock {
  readonly apply_exit: number;
  readonly verify_exit: number;
  readonly heads?: readonly string[];
  readonly phases?: Readonly<Record<string, number>>;
}

/** Everything below the store but what transactions leave. */
async function storeFiles(root: string): Promise<Record<string, string>> {
  const entries = await treeEntries(join(root, '.hg/store'));
  const files = entries.filter(({ type, name }) => type === 'file' && !/^(undo|requires|phaseroots)/.test(name));
  return Object.fromEntries(files.map(({ name, content }) => [name, name === 'fncache' ? '' : (content ?? '')]));
}

describe.each(realHg())('stock hg $version', (hg) => {
  let session: HgSession;
  beforeAll(async () => {
    session = await hg.session();
  });
  afterAll(async () => {
    await session[Symbol.asyncDispose]();
  });

  it.each(GOOD_STREAMS)('agrees on $name', async ({ path, sidecar }) => {
    // A release is judged by what a release of its line did with the bundle itself.
    const line = hg.version.startsWith('6') ? 'hg6.3.2' : 'hg7.2.4';
    const stock = (sidecar as Record<string, Stock>)[line];
    if (stock === undefined || stock.apply_exit !== 0) return;
    using applied = await apply(path);
    const verified = await session.run(['-R', applied.root, 'verify', '-q']);
    expect([verified.code, verified.stderr]).toEqual([stock.verify_exit, expect.any(String)]);
    if (stock.verify_exit === 0) expect(verified.stdout + verified.stderr).not.toMatch(/warning: .*(fncache|orphan)/);
    const heads = await session.run(['-R', applied.root, 'heads', '-c', '-t', '-T', '{node}\n']);
    // Of an empty repository it shows the one that is not there.
    const found = heads.stdout.split('\n').filter((node) => !/^0*$/.test(node));
    expect(found.sort()).toEqual([...(stock.heads ?? [])].sort());
  });

  it.each(GOOD_STREAMS.filter(({ name }) => /packed1|stream-v3/.test(name)))(
    'writes the store that it writes of $name, and sees all of it as public',
    async ({ path, name, sidecar }) => {
      const line = hg.version.startsWith('6') ? 'hg6.3.2' : 'hg7.2.4';
      const stock = (sidecar as Record<string, Stock>)[line];
      if (stock === undefined || stock.apply_exit !== 0) return;
      using applied = await apply(path);
      using dir = tmpDir();
      const theirs = dir.join('theirs');
      expect(await session.run(['init', theirs])).toMatchObject({ code: 0 });
      const command = name.endsWith('packed1') ? 'debugapplystreamclonebundle' : 'unbundle';
      expect(await session.run(['-R', theirs, command, path])).toMatchObject({ code: 0 });
      expect(await storeFiles(applied.root)).toEqual(await storeFiles(theirs));
      const phases = await session.run(['-R', applied.root, 'log', '-r', 'not public()', '-T', '{node}\n']);
      expect(phases).toMatchObject({ code: 0, stdout: '' });
    },
  );

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
