import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { tmpDir } from '@quicksilver/testing';
import { Volume } from '../src/volume.ts';
import { codeOf } from './support/volume.ts';

describe('a volume', () => {
  it('is made once, whoever comes first, and opened by all', async () => {
    using dir = tmpDir();
    const volumes = await Promise.all(Array.from({ length: 8 }, () => Volume.init(dir.join('v'), { name: 'main' })));
    expect(volumes.map((volume) => volume.name)).toEqual(Array.from({ length: 8 }, () => 'main'));
    expect((await readdir(dir.join('v'))).sort()).toEqual(
      ['bundles', 'generations', 'locks', 'mirrors', 'spool', 'staging', 'trash', 'volume.json'].sort(),
    );
    expect(JSON.parse(await readFile(dir.join('v', 'volume.json'), 'utf8'))).toMatchObject({ v: 1, name: 'main' });
  });

  it('keeps its name', async () => {
    using dir = tmpDir();
    await Volume.init(dir.join('v'), { name: 'main' });
    expect(await codeOf(Volume.init(dir.join('v'), { name: 'other' }))).toBe('HG_EXISTS');
    expect(await codeOf(Volume.init(dir.join('w'), { name: 'No Name' }))).toBe('HG_USAGE');
  });

  it('is known by its real path, so that a link to it is the same volume', async () => {
    using dir = tmpDir();
    await Volume.init(dir.join('v'), { name: 'main' });
    await symlink('v', dir.join('alias'));
    expect((await Volume.open(dir.join('alias'))).root).toBe((await Volume.open(dir.join('v'))).root);
  });

  it('is not made by opening, and not taken from a newer version or from damage', async () => {
    using dir = tmpDir();
    await mkdir(dir.join('v'));
    expect(await codeOf(Volume.open(dir.join('v')))).toBe('HG_NOT_FOUND');
    expect(await codeOf(Volume.open(dir.join('nowhere')))).toBe('HG_NOT_FOUND');
    await writeFile(dir.join('v', 'volume.json'), '{"v":2,"name":"main"}');
    expect(await codeOf(Volume.open(dir.join('v')))).toBe('HG_UNSUPPORTED');
    for (const text of ['', '{', '[]', '{"v":1}', '{"v":1,"name":"../x"}']) {
      await writeFile(dir.join('v', 'volume.json'), text);
      expect(await codeOf(Volume.open(dir.join('v')))).toBe('HG_CORRUPT');
    }
  });
});
