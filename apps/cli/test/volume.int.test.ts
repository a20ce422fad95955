import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { tmpDir } from '@quicksilver/testing';
import { runCli } from './run-cli.ts';

describe('quicksilver volume init', () => {
  it('makes a volume that scan opens, and finds it made the second time', async () => {
    using dir = tmpDir();
    const root = dir.join('disk', 'v');
    for (const _time of [1, 2]) {
      const made = await runCli(['volume', 'init', root, '--name', 'spare']);
      expect(made).toMatchObject({ code: 0, stdout: `volume spare in ${root}: QUICKSILVER_VOLUMES=spare=${root}\n` });
    }
    expect(JSON.parse(readFileSync(`${root}/volume.json`, 'utf8'))).toMatchObject({ v: 1, name: 'spare' });
    expect(await runCli(['volume', 'scan', root])).toMatchObject({ code: 0, stdout: '0 mirrors on volume spare\n' });
  });

  it('takes an empty file system, and refuses a directory that holds something else or is called otherwise', async () => {
    using dir = tmpDir();
    mkdirSync(dir.join('disk', 'lost+found'), { recursive: true });
    expect(await runCli(['volume', 'init', dir.join('disk')])).toMatchObject({ code: 0 });
    const other = await runCli(['volume', 'init', dir.join('disk'), '--name', 'other']);
    expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining('a volume of another name') });
    writeFileSync(dir.join('file'), '');
    const foreign = await runCli(['volume', 'init', dir.path]);
    expect(foreign).toMatchObject({ code: 1, stderr: expect.stringContaining('not empty, and no volume') });
  });

  it('is what is told where there is no volume', async () => {
    using dir = tmpDir();
    const scan = await runCli(['volume', 'scan', dir.path]);
    expect(scan).toMatchObject({ code: 1, stderr: expect.stringContaining('quicksilver volume init') });
  });
});
