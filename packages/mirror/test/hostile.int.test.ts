import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { faultRecord } from '@quicksilver/hg-types';
import { fixturePath, fixtures, type HgSession, newestHg, seededRandom } from '@quicksilver/testing';
import { cloneToStaging } from '../src/clone.ts';
import { closeTask } from '../src/close.ts';
import type { Settled } from '../src/outcome.ts';
import { only, remains, type Scene, scene, task } from './support/scene.ts';
import { context } from './support/volume.ts';

/** Writer and closer as a queue runs them: a child that fails leaves its problem to the close. */
async function run(s: Scene, path: string): Promise<Settled> {
  const ref = task(1);
  try {
    const written = await cloneToStaging(s.volume, s.cloneRequest(ref, path), context());
    return await closeTask(s.volume, s.closeRequest(ref, written), context());
  } catch (err) {
    return closeTask(s.volume, s.closeRequest(ref, undefined, { childProblem: faultRecord(err) }), context());
  }
}

describe('hostile bundles', () => {
  let hg: HgSession;
  beforeAll(async () => {
    hg = await newestHg().session();
  });
  afterAll(async () => {
    await hg[Symbol.asyncDispose]();
  });

  it.each(fixtures('hostile', /^(?!cg-|trunc-cg)/))(
    '$name: published whole, or a typed failure with nothing left',
    async ({ path }) => {
      using s = await scene('m');
      const settled = await run(s, path);
      if (settled.state === 'ready') {
        expect(await remains(s.volume)).toEqual(only('m', 1));
        const { code, stdout } = await hg.run(['-R', s.volume.paths.link('m'), 'verify']);
        expect({ code, stdout }).toMatchObject({ code: 0 });
      } else {
        expect(settled).toMatchObject({ state: 'failed', problem: { code: expect.stringMatching(/^HG_/) } });
        expect(settled.problem?.code).not.toBe('HG_INTERNAL');
        expect(settled.problem?.advice).not.toBe('');
        expect(await remains(s.volume)).toEqual([]);
      }
      // The same every time.
      using again = await scene('m');
      const second = await run(again, path);
      expect([second.state, second.problem?.code]).toEqual([settled.state, settled.problem?.code]);
    },
  );

  it('that say what they should not are published only where a repository stays sound', async () => {
    const ready: string[] = [];
    for (const { name, path } of fixtures('hostile', /^s2-/)) {
      using s = await scene('m');
      if ((await run(s, path)).state === 'ready') ready.push(name);
    }
    // Advisory parameters, requirements that the bytes complete, no files, names that only look odd.
    for (const name of ready)
      expect(name).toMatch(
        /^s2-(dup-case|empty-req|missing|fingerprint|filecount-zero|name-encoded|name-dotdot|name-dothg|name-dh)/,
      );
  });

  it('K006: without files are usable mirrors, and a pull into them works', async () => {
    using s = await scene('m');
    const settled = await run(s, fixturePath('hostile/s2-filecount-zero.hg'));
    expect(settled).toMatchObject({ state: 'ready', receipt: { proof: { changesets: 0 } } });
    const other = s.dir.join('other');
    await hg.run(['init', other]);
    await hg.run(['-R', other, 'unbundle', '-q', fixturePath('stream/fmt-default.stream-v2.hg')]);
    expect(await hg.run(['-R', settled.path ?? '', 'pull', '-q', other])).toMatchObject({ code: 0 });
    expect(await hg.run(['-R', settled.path ?? '', 'verify', '-q'])).toMatchObject({ code: 0 });
  });

  it('with any one byte changed never come out half', async () => {
    const bytes = await readFile(fixturePath('stream/basic.stream-v2.hg'));
    const random = seededRandom(7);
    for (let i = 0; i < Number(process.env.QUICKSILVER_FLIPS ?? 40); i++) {
      using s = await scene('m');
      const damaged = Buffer.from(bytes);
      const at = random.int(0, bytes.length);
      damaged.writeUInt8(damaged.readUInt8(at) ^ (1 << random.int(0, 8)), at);
      await writeFile(s.dir.join('damaged.hg'), damaged);
      const settled = await run(s, s.dir.join('damaged.hg'));
      expect({ at, left: await remains(s.volume) }).toEqual({
        at,
        left: settled.state === 'ready' ? only('m', 1) : [],
      });
      expect({ at, code: settled.problem?.code }).not.toMatchObject({ code: 'HG_INTERNAL' });
    }
  });

  it('cut anywhere fail as such, with nothing left', async () => {
    const bytes = await readFile(fixturePath('stream/fmt-default.stream-v2.hg'));
    const random = seededRandom(11);
    const cuts = [0, 1, 3, 4, 7, 8, 11, 12, bytes.length - 1, bytes.length - 4, bytes.length - 5, bytes.length - 8];
    for (const cut of [...cuts, ...Array.from({ length: 20 }, () => random.int(0, bytes.length))]) {
      using s = await scene('m');
      await writeFile(s.dir.join('cut.hg'), bytes.subarray(0, cut));
      const settled = await run(s, s.dir.join('cut.hg'));
      expect({ cut, settled }).toMatchObject({ cut, settled: { state: 'failed' } });
      expect(await remains(s.volume)).toEqual([]);
    }
  });
});
