import { chmod, lstat, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { fixturePath, newestHg, type TmpDir, tmpDir, treeHash, writeSyntheticBundle } from '@quicksilver/testing';
import { LOCAL_CHECKPOINTS } from '../src/checkpoints.ts';
import { cloneLocal, type LocalCloneOptions } from '../src/local.ts';
import { runEngine, startEngine } from './support/child.ts';
import { codeOf } from './support/volume.ts';

interface Place extends Disposable {
  readonly dir: TmpDir;
  readonly path: string;
}

function place(): Place {
  const dir = tmpDir('quicksilver-local');
  const path = dir.join('source.hg');
  writeSyntheticBundle(path, { files: 8, fileSize: 200 });
  return { dir, path, [Symbol.dispose]: () => dir[Symbol.dispose]() };
}

const clone = (p: Place, dest: string, more: Partial<LocalCloneOptions> = {}) =>
  cloneLocal({
    source: { kind: 'bundle-file', path: p.path },
    dest,
    settings: {},
    flush: false,
    signal: new AbortController().signal,
    ...more,
  });

describe('a clone without a volume', () => {
  it('is a repository that stock hg finds clean, and leaves nothing beside it', async () => {
    using p = place();
    const receipt = await clone(p, p.dir.join('dest'), { flush: true });
    expect(receipt).toMatchObject({
      v: 1,
      path: p.dir.join('dest'),
      flushed: true,
      proof: { level: 'quick', changesets: 3 },
    });
    expect((await readdir(p.dir.path)).sort()).toEqual(['dest', 'source.hg']);
    expect((await newestHg().run(['-R', p.dir.join('dest'), 'verify', '-q'])).code).toBe(0);
  });

  it('makes the folders above, takes an empty directory with its mode, and a link to one', async () => {
    using p = place();
    await clone(p, p.dir.join('a', 'b', 'c'));
    await mkdir(p.dir.join('empty'));
    await chmod(p.dir.join('empty'), 0o750);
    await clone(p, p.dir.join('empty'));
    expect((await lstat(p.dir.join('empty'))).mode & 0o777).toBe(0o750);
    await mkdir(p.dir.join('target'));
    await symlink('target', p.dir.join('link'));
    expect(await clone(p, p.dir.join('link'))).toMatchObject({ path: p.dir.join('target') });
    expect((await lstat(p.dir.join('link'))).isSymbolicLink()).toBe(true);
  });

  it('refuses a destination that exists, and changes nothing there', async () => {
    using p = place();
    await mkdir(p.dir.join('full'));
    await writeFile(p.dir.join('full', 'x'), 'mine');
    await writeFile(p.dir.join('file'), 'mine');
    await symlink('nowhere', p.dir.join('dangling'));
    const before = await treeHash(p.dir.path);
    for (const dest of ['full', 'file', 'file/below', 'dangling']) {
      expect(await codeOf(clone(p, p.dir.join(dest)))).toBe('HG_EXISTS');
    }
    expect(await treeHash(p.dir.path)).toBe(before);
  });

  it('refuses a destination that somebody fills meanwhile', async () => {
    using p = place();
    const checkpoint = async (name: string): Promise<void> => {
      if (name !== 'local-proved') return;
      await mkdir(p.dir.join('dest'));
      await writeFile(p.dir.join('dest', 'theirs'), '');
    };
    expect(await codeOf(clone(p, p.dir.join('dest'), { checkpoint }))).toBe('HG_EXISTS');
    expect(await readdir(p.dir.join('dest'))).toEqual(['theirs']);
    expect((await readdir(p.dir.path)).sort()).toEqual(['dest', 'source.hg']);
  });

  it('leaves nothing when it fails or is stopped, made folders included', async () => {
    using p = place();
    const before = await treeHash(p.dir.path);
    expect(
      await codeOf(clone(p, p.dir.join('x', 'y'), { source: { kind: 'bundle-file', path: p.dir.join('none') } })),
    ).toBe('HG_NOT_FOUND');
    const hostile = { kind: 'bundle-file', path: fixturePath('hostile/s2-corrupt-changelog.hg') } as const;
    expect(await codeOf(clone(p, p.dir.join('x', 'y'), { source: hostile }))).toMatch(/^HG_/);
    for (const stop of LOCAL_CHECKPOINTS.slice(0, -1)) {
      const controller = new AbortController();
      const checkpoint = (name: string): void => void (name === stop && controller.abort());
      await expect(clone(p, p.dir.join('x', 'y'), { signal: controller.signal, checkpoint })).rejects.toThrow();
    }
    expect(await treeHash(p.dir.path)).toBe(before);
  });

  it.each(LOCAL_CHECKPOINTS)(
    'K033: killed at %s, the next run ends complete and removes what was left',
    async (checkpoint) => {
      using p = place();
      const dest = p.dir.join('dest');
      const killed = await runEngine('local', { path: p.path, dest }, { checkpoint });
      expect(killed.signal).toBe('SIGKILL');
      const names = await readdir(p.dir.path);
      if (checkpoint === 'local-renamed') {
        expect((await newestHg().run(['-R', dest, 'verify', '-q'])).code).toBe(0);
        expect(await codeOf(clone(p, dest))).toBe('HG_EXISTS');
      } else {
        expect(names).not.toContain('dest');
        await clone(p, dest);
        expect((await readdir(p.dir.path)).sort()).toEqual(['dest', 'source.hg']);
      }
    },
  );

  it('does not take the folder of a run that is still alive for a leftover', async () => {
    using p = place();
    const dest = p.dir.join('dest');
    const other = startEngine('local', { path: p.path, dest }, { checkpoint: 'local-written', signal: 'SIGSTOP' });
    await other.at;
    await clone(p, dest);
    other.kill('SIGCONT');
    expect((await other.end).error?.code).toBe('HG_EXISTS');
    expect((await readdir(p.dir.path)).sort()).toEqual(['dest', 'source.hg']);
  });

  it('K056: names with blanks, "#", "%23", "+" and other letters mean themselves', async () => {
    using p = place();
    const bytes = await readFile(p.path);
    for (const name of ['with blank', 'a#b', 'a%23b', 'a+b', 'süß', '源', '-x', 'x'.repeat(240)]) {
      const path = p.dir.join(`${name}.hg`);
      await writeFile(path, bytes);
      const receipt = await clone(p, p.dir.join(name), { source: { kind: 'bundle-file', path } });
      expect(receipt.path).toBe(p.dir.join(name));
      expect(receipt.write.source.path).toBe(path);
    }
    expect((await readdir(p.dir.path)).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('K048: files named like those of Mercurial itself arrive under their names', async () => {
    using p = place();
    const hg = newestHg();
    const from = p.dir.join('from');
    await hg.run(['init', from]);
    const root = [
      '00changelog.i',
      '00manifest.d',
      'undo.x',
      'undo',
      'foo.n',
      'foo-1234.nd',
      'requires',
      'fncache',
      'con',
    ];
    const deep = ['data/undo.d', 'meta/a.i', 'dh/x', 'x.i/y', 'x.d/y', `long/${'n'.repeat(230)}`];
    const names = root.concat(deep, ['phaseroots', 'lock', 'journal', 'é.txt', 'AUX.i']);
    for (const name of names) {
      await mkdir(dirname(join(from, name)), { recursive: true });
      await writeFile(join(from, name), name);
    }
    expect((await hg.run(['-R', from, 'commit', '-q', '-A', '-m', 'odd names'])).code).toBe(0);
    const source = { kind: 'bundle-file', path: p.dir.join('odd.hg') } as const;
    expect((await hg.run(['-R', from, 'bundle', '-q', '-a', '-t', 'none-v2;stream=v2', source.path])).code).toBe(0);
    await clone(p, p.dir.join('dest'), { source });
    expect((await hg.run(['-R', p.dir.join('dest'), 'verify', '-q'])).code).toBe(0);
    const { stdout } = await hg.run(['-R', p.dir.join('dest'), 'manifest', '-r', 'tip']);
    expect(stdout.trim().split('\n').toSorted()).toEqual(names.toSorted());
    for (const name of names) {
      const { stdout: text } = await hg.run(['--cwd', p.dir.join('dest'), 'cat', '-r', 'tip', `path:${name}`]);
      expect(text).toBe(name);
    }
  });
});
