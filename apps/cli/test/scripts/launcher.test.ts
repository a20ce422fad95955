import { spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { tmpDir } from '@quicksilver/testing';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
// Where something is to be set up or built, the launcher would begin to, in the middle of the tests.
const ask = 'root=$1; . "$root/script/lib/setup.sh"; qs_bootstrap_ok && qs_build_ok';
const setUp = spawnSync('sh', ['-c', ask, 'sh', root]).status === 0;

(setUp ? it : it.skip)('the launcher is quiet, and works through symlinks and from any directory', () => {
  using dir = tmpDir();
  symlinkSync(`${root}/quicksilver`, dir.join('first'));
  symlinkSync('./first', dir.join('second'));
  const { status, stdout, stderr } = spawnSync('./second', ['--version'], {
    cwd: dir.path,
    encoding: 'utf8',
    env: { HOME: dir.path, PATH: '/usr/local/bin:/usr/bin:/bin' },
  });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '0.1.0\n', stderr: '' });
});
