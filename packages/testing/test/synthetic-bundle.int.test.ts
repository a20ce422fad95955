import { describe, expect, it } from '@jest/globals';
import { realHg } from '../src/real-hg.ts';
import { writeSyntheticBundle } from '../src/synthetic-bundle.ts';
import { tmpDir } from '../src/tmp-dir.ts';

describe.each(realHg().map((hg) => ({ version: hg.version, hg })))('a synthetic bundle under hg $version', ({ hg }) => {
  it.each([
    { what: 'small files', files: 250, fileSize: 300, stored: 252 },
    { what: 'files with data of their own', files: 7, fileSize: 200_000, stored: 16 },
    { what: 'no files', files: 0, fileSize: 0, stored: 2 },
  ])('with $what is a sound repository', async ({ files, fileSize, stored }) => {
    using dir = tmpDir('synthetic');
    const bundle = writeSyntheticBundle(dir.join('b.hg'), { files, fileSize });
    expect(bundle.storeFiles).toBe(stored);
    await using session = await hg.session();
    await session.run(['init', dir.join('r')]);
    const at = ['-R', dir.join('r')];
    expect(await session.run([...at, 'unbundle', bundle.path])).toMatchObject({ code: 0 });
    expect(await session.run([...at, 'verify'])).toMatchObject({ code: 0, stderr: '' });
    expect((await session.run([...at, 'log', '-r', 'tip', '-T', '{node}'])).stdout).toBe(bundle.tip);
    expect((await session.run([...at, 'files', '-r', 'tip'])).stdout.split('\n').length - 1).toBe(files);
  });
});
