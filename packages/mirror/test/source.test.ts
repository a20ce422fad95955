import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { tmpDir } from '@quicksilver/testing';
import { resolveSource, sourceIdentity } from '../src/source.ts';
import { codeOf } from './support/volume.ts';

const odd = [
  'with blank.hg',
  'a#b.hg',
  'a%23b.hg',
  'a+b.hg',
  'süß.hg',
  '源.hg',
  'a?b=c.hg',
  '-oProxyCommand=x.hg',
  '$(id).hg',
  'q\'".hg',
];

describe('sources', () => {
  it.each(odd)('K056: %j names exactly that file', async (name) => {
    using dir = tmpDir();
    await writeFile(dir.join(name), 'x');
    await writeFile(dir.join('a'), 'what would be left if the name were cut');
    const path = dir.join(name);
    expect(await resolveSource({ kind: 'bundle-file', path }, [dir.path])).toBe(path);
  });

  it('K056: equal spellings are one source, different names are different sources', () => {
    const of = (path: string): string => sourceIdentity({ kind: 'bundle-file', path });
    expect(of('/a//b/./c.hg')).toBe(of('/a/b/c.hg'));
    expect(of('/a/b/c.hg/')).toBe(of('/a/b/c.hg'));
    expect(new Set(['/a#b', '/a%23b', '/a+b', '/a b', '/a%20b', '/A b'].map(of)).size).toBe(6);
  });

  it('are allowed only below the directories that configuration names, links followed', async () => {
    using dir = tmpDir();
    await mkdir(dir.join('in'));
    await mkdir(dir.join('in-not'));
    await writeFile(dir.join('in', 'x.hg'), 'x');
    await writeFile(dir.join('in-not', 'y.hg'), 'y');
    await symlink(dir.join('in-not', 'y.hg'), dir.join('in', 'out.hg'));
    await symlink(dir.join('in', 'x.hg'), dir.join('in-not', 'back.hg'));
    await symlink(dir.join('in'), dir.join('alias'));
    const ask = (path: string, roots?: string[]) => resolveSource({ kind: 'bundle-file', path }, roots);
    const roots = [dir.join('alias'), dir.join('missing')];
    expect(await ask(dir.join('in', 'x.hg'), roots)).toBe(dir.join('in', 'x.hg'));
    expect(await ask(dir.join('in-not', 'back.hg'), roots)).toBe(dir.join('in', 'x.hg'));
    for (const path of [dir.join('in', 'out.hg'), dir.join('in-not', 'y.hg'), dir.join('in', '..', 'in-not', 'y.hg')]) {
      expect(await codeOf(ask(path, roots))).toBe('HG_POLICY');
    }
    expect(await codeOf(ask(dir.join('in', 'x.hg'), []))).toBe('HG_POLICY');
    expect(await ask(dir.join('in-not', 'y.hg'))).toBe(dir.join('in-not', 'y.hg'));
  });

  it('that are no readable bundle file are named as such', async () => {
    using dir = tmpDir();
    await symlink('loop', dir.join('loop'));
    const ask = (path: string) => codeOf(resolveSource({ kind: 'bundle-file', path }, [dir.path]));
    expect(await ask(dir.join('none.hg'))).toBe('HG_NOT_FOUND');
    expect(await ask(dir.join('loop'))).toBe('HG_NOT_FOUND');
    expect(await ask('relative.hg')).toBe('HG_USAGE');
    expect(await ask('/tmp/a\0b')).toBe('HG_USAGE');
    expect(await ask('/dev/null')).toBe('HG_POLICY');
    await mkdir(dir.join('repository'));
    expect(await ask(dir.join('repository'))).toBe('HG_NOT_YET');
  });
});
