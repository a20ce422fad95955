import { readdir, readFile, readlink, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { fixturePath, realHg, repositoryFacts, treeHash } from '@quicksilver/testing';
import { cloneToStaging } from '../src/clone.ts';
import { closeTask } from '../src/close.ts';
import { readLane } from '../src/lane/lane.ts';
import { ENGINE_VERSION } from '../src/version.ts';
import { Volume } from '../src/volume.ts';
import { only, remains, scene, task } from './support/scene.ts';
import { codeOf, context } from './support/volume.ts';

describe('publishing', () => {
  it('brings a bundle to a mirror: link, generation, receipt, lane, and nothing else', async () => {
    using s = await scene();
    const first = task(1);
    const stages: string[] = [];
    const ctx = context({ onProgress: ({ stage }) => void (stages.at(-1) === stage || stages.push(stage)) });
    const written = await cloneToStaging(s.volume, s.cloneRequest(first), ctx);
    expect(await readLane(s.volume, s.mirror)).toMatchObject({ state: 'sealed', fence: 1, task: first });
    const settled = await closeTask(s.volume, s.closeRequest(first, written, { flush: true }), ctx);

    expect(settled).toMatchObject({ state: 'ready', generation: 1, path: s.volume.paths.link(s.mirror) });
    expect(stages).toEqual(['plan', 'write', 'seal', 'prove', 'flush', 'publish']);
    expect(await remains(s.volume)).toEqual(only(s.mirror, 1));
    expect(await readlink(s.volume.paths.link(s.mirror))).toBe('../../generations/mozilla%2Fcentral/1');
    expect(await readLane(s.volume, s.mirror)).toMatchObject({
      state: 'settled',
      outcome: { state: 'ready', generation: 1 },
      lastGeneration: 1,
    });
    const receipt = JSON.parse(await readFile(s.volume.paths.receipt(s.mirror, 1), 'utf8'));
    expect(receipt).toEqual(JSON.parse(JSON.stringify(settled.receipt)));
    expect(receipt).toMatchObject({
      v: 1,
      mirror: s.mirror,
      generation: 1,
      task: first,
      fence: 1,
      engine: { name: 'quicksilver', version: ENGINE_VERSION },
      method: { name: 'stream-v2' },
      proof: { level: 'quick', changesets: 3, manifests: 3, heads: { count: 1 } },
      flushed: true,
      write: { v: 1 },
    });
  });

  it.each([
    ['packed1', 'stream-v1', 'HGS1'],
    ['stream-v3', 'stream-v3', 'HG20'],
  ])('brings a %s bundle to a mirror, and says in its receipt how', async (kind, method, header) => {
    using s = await scene();
    const settled = await s.publish(task(1), fixturePath(`stream/basic.${kind}.hg`));
    expect(settled).toMatchObject({
      state: 'ready',
      receipt: {
        method: { name: method },
        write: { method, source: { header } },
        proof: { level: 'quick', changesets: 15 },
        warnings: kind === 'packed1' ? [expect.stringContaining('phases')] : [],
      },
    });
  });

  it('shows the next generation beside the one before, which stays at its path', async () => {
    using s = await scene();
    await s.publish(task(1));
    const before = await treeHash(s.volume.paths.generation(s.mirror, 1));
    const second = await s.publish(task(2), s.bundle('second'));
    expect(second).toMatchObject({ state: 'ready', generation: 2 });
    expect(await remains(s.volume)).toEqual(only(s.mirror, 1, 2));
    expect(await realpath(s.volume.paths.link(s.mirror))).toBe(s.volume.paths.generation(s.mirror, 2));
    expect(await treeHash(s.volume.paths.generation(s.mirror, 1))).toBe(before);
  });

  it('returns the recorded end, however often it runs', async () => {
    using s = await scene();
    const first = task(1);
    const written = await cloneToStaging(s.volume, s.cloneRequest(first), context());
    const ends = [];
    for (let run = 0; run < 3; run++) ends.push(await closeTask(s.volume, s.closeRequest(first, written), context()));
    expect(ends[1]).toEqual(ends[0]);
    expect(ends[2]).toEqual(ends[0]);
    expect(await closeTask(s.volume, s.closeRequest(first, undefined, { cancelled: true }), context())).toEqual(
      ends[0],
    );
    expect(await remains(s.volume)).toEqual(only(s.mirror, 1));
  });

  it('publishes nothing without what the writer returned, whatever lies in staging', async () => {
    using s = await scene();
    const first = task(1);
    await cloneToStaging(s.volume, s.cloneRequest(first), context());
    const settled = await closeTask(s.volume, s.closeRequest(first, undefined), context());
    expect(settled).toMatchObject({ state: 'failed', problem: { code: 'HG_WORKER_LOST', stage: 'write' } });
    expect(await remains(s.volume)).toEqual([]);
  });

  it('names why the writer failed', async () => {
    using s = await scene();
    const childProblem = { code: 'HG_NO_SPACE', message: 'full', where: { wanted: 5 }, stage: 'plan' };
    const settled = await closeTask(s.volume, s.closeRequest(task(1), undefined, { childProblem }), context());
    expect(settled).toMatchObject({
      state: 'failed',
      problem: { ...childProblem, class: 'storage', retryable: false },
    });
    expect(await readLane(s.volume, s.mirror)).toMatchObject({ state: 'settled', outcome: { problem: childProblem } });
    const newer = { code: 'HG_OF_A_NEWER_WRITER', message: 'x'.repeat(10_000), where: { name: 'y'.repeat(10_000) } };
    expect(
      await closeTask(s.volume, s.closeRequest(task(2), undefined, { childProblem: newer }), context()),
    ).toMatchObject({
      state: 'failed',
      problem: { code: 'HG_INTERNAL', message: expect.stringMatching(/^x{399}…$/) },
    });
  });

  it('K057: a name that is taken by a folder, or lies in another mirror, fails without touching that one', async () => {
    using s = await scene('tests');
    await s.publish(task(1));
    using inside = { ...(await scene('tests/test1')), volume: s.volume };
    expect(
      await codeOf(cloneToStaging(s.volume, { ...s.cloneRequest(task(1)), mirror: 'tests/test1' }, context())),
    ).toBe('HG_EXISTS');
    expect(inside.mirror).toBe('tests/test1');
    await closeTask(s.volume, { ...s.closeRequest(task(2), undefined), mirror: 'tests/test1' }, context());
    expect(await remains(s.volume)).toEqual(only('tests', 1));
    expect(await readdir(s.volume.paths.generation('tests', 1))).toEqual(['.hg']);
  });

  it('K057: names that look like something else are mirrors of their own', async () => {
    using s = await scene('A');
    for (const mirror of ['a', 'A', 'con', 'with blank', 'a#b', 'a%23b', 'é/源']) {
      const ref = task(1);
      const written = await cloneToStaging(s.volume, { ...s.cloneRequest(ref), mirror }, context());
      const settled = await closeTask(s.volume, { ...s.closeRequest(ref, written), mirror }, context());
      expect(settled).toMatchObject({ state: 'ready', generation: 1, path: `${s.volume.root}/mirrors/${mirror}` });
      expect(await realpath(settled.path ?? '')).toBe(s.volume.paths.generation(mirror, 1));
    }
  });

  it('gives what readers need to the owner and with the modes that configuration says', async () => {
    using s = await scene();
    const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
    const volume = await Volume.open(s.volume.root, { access: { fileMode: 0o640, dirMode: 0o750, owner } });
    const ref = task(1);
    const written = await cloneToStaging(volume, s.cloneRequest(ref), context());
    await closeTask(volume, s.closeRequest(ref, written), context());
    const mode = async (path: string): Promise<number> => (await stat(path)).mode & 0o7777;
    const generation = volume.paths.generation(s.mirror, 1);
    for (const folder of ['', '/.hg', '/.hg/store/data']) expect(await mode(generation + folder)).toBe(0o750);
    for (const file of ['requires', 'store/00changelog.i', 'store/fncache'])
      expect(await mode(`${generation}/.hg/${file}`)).toBe(0o640);
    expect(await mode(volume.paths.receipt(s.mirror, 1))).toBe(0o640);
    for (const folder of [volume.paths.generations(s.mirror), dirname(volume.paths.link(s.mirror))]) {
      expect(await mode(folder)).toBe(0o750);
    }
  });

  it('names the version of its package in receipts', async () => {
    const text = await readFile(new URL('../package.json', import.meta.url), 'utf8');
    expect(JSON.parse(text)).toMatchObject({ version: ENGINE_VERSION });
  });

  it('refuses levels of proof that are not there yet', async () => {
    using s = await scene();
    const ref = task(1);
    const written = await cloneToStaging(s.volume, s.cloneRequest(ref), context());
    const settled = await closeTask(s.volume, s.closeRequest(ref, written, { verify: 'full' }), context());
    expect(settled).toMatchObject({ state: 'failed', problem: { code: 'HG_NOT_YET' } });
  });
});

describe.each(realHg())('stock hg $version', (hg) => {
  it('finds a published mirror clean, and pulls, commits and bundles in it', async () => {
    using s = await scene();
    const settled = await s.publish(task(1), fixturePath('stream/basic.stream-v2.hg'));
    const path = settled.path ?? '';
    const run = async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await hg.run(['-R', path, ...args]);
      expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
      return stdout;
    };
    await run('verify');
    const other = s.dir.join('other');
    expect((await hg.run(['clone', '-q', '--pull', path, other])).code).toBe(0);
    await hg.run(['-R', other, 'update', '-q', 'tip']);
    expect((await hg.run(['-R', other, 'tag', '-q', 'added'])).code).toBe(0);
    await run('pull', '-q', other);
    await run('update', '-q', 'tip');
    await run('commit', '-q', '--config', 'ui.allowemptycommit=yes', '-m', 'more');
    await run('bundle', '-q', '-a', s.dir.join('out.hg'));
    await run('verify');
  });

  it('reads the same from a mirror as from its own unbundle', async () => {
    using s = await scene();
    const bundle = s.bundle('facts');
    await s.publish(task(1), bundle);
    const theirs = s.dir.join('theirs');
    await hg.run(['init', theirs]);
    expect((await hg.run(['-R', theirs, 'unbundle', '-q', bundle])).code).toBe(0);
    expect(await repositoryFacts(hg, s.volume.paths.link(s.mirror))).toEqual(await repositoryFacts(hg, theirs));
  });
});
