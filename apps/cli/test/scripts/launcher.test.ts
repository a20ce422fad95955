import { spawnSync } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { tmpDir } from '@quicksilver/testing';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
// Where nothing was set up by the scripts, the launcher would begin to, in the middle of the tests.
const setUp = existsSync(`${root}.cache/build.stamp`) && existsSync(`${root}node_modules/.stamp`);

(setUp ? it : it.skip)('the launcher is quiet, and works through symlinks and from any directory', () => {
  using dir = tmpDir();
  symlinkSync(`${root}quicksilver`, dir.join('first'));
  symlinkSync('./first', dir.join('second'));
  const { status, stdout, stderr } = spawnSync('./second', ['--version'], {
    cwd: dir.path,
    encoding: 'utf8',
    env: { HOME: dir.path, PATH: '/usr/local/bin:/usr/bin:/bin' },
  });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '0.1.0\n', stderr: '' });
});
