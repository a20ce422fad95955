import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { newestHg, type SpawnResult, tmpDir } from '@quicksilver/testing';
import { runCli } from './run-cli.ts';

const result = ({ stdout }: SpawnResult): Record<string, unknown> => JSON.parse(stdout.trim().split('\n').at(-1) ?? '');

it('demo provisions a real history that hg verifies, and a second generation of it on the same data', async () => {
  using dir = tmpDir();
  const data = dir.join('data with blanks');
  const env = { REDIS_URL: '', QUICKSILVER_SOURCE_ROOTS: '', QUICKSILVER_VOLUMES: '', QUICKSILVER_DATABASE: '' };
  const mirror = `${data}/volume/mirrors/demo/cinnabar`;
  for (const generation of [1, 2]) {
    const demo = await runCli(['demo', '--data', data, '--json'], { env });
    expect({ code: demo.code, stderr: demo.code === 0 ? '' : demo.stderr }).toEqual({ code: 0, stderr: '' });
    expect(demo.stderr).toContain('settled: ready');
    expect(result(demo)).toMatchObject({ type: 'demo', mirror: 'demo/cinnabar', generation, files: 282, path: mirror });
    expect(readlinkSync(mirror).endsWith(`/${generation}`)).toBe(true);
    expect(readdirSync(`${data}/run`)).toEqual([]);
  }
  expect(await newestHg().run(['verify', '-q', '-R', mirror])).toMatchObject({ code: 0 });
  const receipt = JSON.parse(readFileSync(`${data}/volume/generations/demo%2Fcinnabar/2.json`, 'utf8'));
  expect(receipt).toMatchObject({ v: 1, generation: 2, flushed: true });

  const scan = await runCli(['volume', 'scan', `${data}/volume`]);
  expect(scan).toMatchObject({ code: 0, stderr: '' });
  expect(scan.stdout).toMatch(/^demo\/cinnabar {2}generation 2 .* also on disk: 1\n.*\n1 mirror on volume main\n$/);
});
