import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { tmpDir } from '@quicksilver/testing';
import { launcherWord } from '../../src/demo/launcher-word.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url)).replace(/\/$/, '');

describe('the command that a person is told to go on with', () => {
  it('works where they are', () => {
    expect(launcherWord(root, { PATH: '/nowhere' })).toBe('./quicksilver');
    expect(launcherWord(join(root, 'apps'), { PATH: '/nowhere' })).toBe(join(root, 'quicksilver'));
  });

  it('is the bare name where that leads here, and only there', () => {
    using dir = tmpDir();
    symlinkSync('/bin/true', dir.join('quicksilver'));
    expect(launcherWord(root, { PATH: dir.path })).toBe('./quicksilver');
    using mine = tmpDir();
    symlinkSync(join(root, 'quicksilver'), mine.join('quicksilver'));
    expect(launcherWord('/', { PATH: mine.path })).toBe('quicksilver');
  });
});
