import { describe, expect, it } from '@jest/globals';
import { fixtureJson, fixturePath } from '../src/fixtures.ts';
import { realHg } from '../src/real-hg.ts';
import { repositoryFacts } from '../src/repository-facts.ts';
import { tmpDir } from '../src/tmp-dir.ts';

interface SourceFacts {
  readonly changesets: readonly { readonly node: string; readonly phase: string }[];
}

describe.each(realHg().map((hg) => ({ version: hg.version, hg })))('hg $version', ({ hg }) => {
  it('runs without the configuration of the user or the machine', async () => {
    expect((await hg.run(['config'])).stdout).not.toMatch(/^(alias|extensions|paths)\./m);
  });

  it('answers alike by a process each and by a session', async () => {
    using dir = tmpDir('hg');
    await hg.run(['init', 'r'], { cwd: dir.path });
    const args = ['-R', dir.join('r'), 'unbundle', fixturePath('bundle/basic.zstd-v2.hg')];
    expect(await hg.run(args)).toMatchObject({ code: 0 });
    await using session = await hg.session();
    const facts = await repositoryFacts(session, dir.join('r'));
    expect(facts).toEqual(await repositoryFacts(hg, dir.join('r')));
    const source = fixtureJson('repos/basic.json') as SourceFacts;
    const nodes = (facts.log as { node: string }[]).map(({ node }) => node).reverse();
    expect(nodes).toEqual(source.changesets.map(({ node }) => node));
    expect(facts.phases).toContain('0 draft');
  });

  it('says what went wrong instead of throwing', async () => {
    await using session = await hg.session();
    for (const runner of [hg, session]) {
      const answer = await runner.run(['-R', '/nonexistent', 'log']);
      expect(answer.code).toBe(255);
      expect(answer.stderr).toContain('/nonexistent');
    }
  });
});
