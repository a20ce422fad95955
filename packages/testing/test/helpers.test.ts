import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { fixture, fixtures } from '../src/fixtures.ts';
import { seededRandom } from '../src/random.ts';
import { spawnNode } from '../src/spawn-node.ts';
import { canMountDisk, smallDisk, tmpDir } from '../src/tmp-dir.ts';
import { treeHash } from '../src/tree-hash.ts';
import { waitFor } from '../src/wait-for.ts';

describe('fixtures', () => {
  it('come with their sidecars and are found by pattern', () => {
    const found = fixtures('stream', /\.stream-v2\.hg$/);
    expect(found.length).toBeGreaterThan(15);
    for (const each of found) expect(each.sidecar).toMatchObject({ size: each.bytes.length });
    expect(fixture('stream/basic.stream-v2.hg').subarray(0, 4).toString()).toBe('HG20');
    expect(() => fixtures('stream', /no such/)).toThrow('no fixture');
  });
});

describe('treeHash', () => {
  it('sees names, modes, contents and link targets, but no times', async () => {
    using dir = tmpDir('tree');
    const build = (name: string): string => {
      mkdirSync(dir.join(name, 'sub'), { recursive: true });
      writeFileSync(dir.join(name, 'sub', 'file'), 'text', { mode: 0o644 });
      symlinkSync('sub', dir.join(name, 'link'));
      return dir.join(name);
    };
    const first = await treeHash(build('a'));
    const other = build('b');
    expect(await treeHash(other)).toBe(first);
    chmodSync(dir.join('b', 'sub', 'file'), 0o600);
    const byMode = await treeHash(other);
    writeFileSync(dir.join('b', 'sub', 'file'), 'texu');
    expect(new Set([first, byMode, await treeHash(other)]).size).toBe(3);
  });
});

describe('waitFor', () => {
  it('returns the first answer, and names the last one when time is up', async () => {
    let asked = 0;
    expect(await waitFor(() => ++asked === 3 && 'third', { interval: 1 })).toBe('third');
    const never = waitFor(() => Promise.reject(new Error('not there')), { deadline: 30, interval: 5, what: 'it' });
    await expect(never).rejects.toThrow(/waited 30 ms for it; last answer: Error: not there/);
  });
});

describe('spawnNode', () => {
  it('runs TypeScript, and kills the whole group at the deadline', async () => {
    using dir = tmpDir('spawn');
    writeFileSync(dir.join('a.ts'), 'const n: number = 3; console.log(n); process.exitCode = n;');
    expect(await spawnNode(dir.join('a.ts'))).toMatchObject({ code: 3, stdout: '3\n', timedOut: false });
    const text = `import { spawn } from 'node:child_process';
      console.log(spawn('sleep', ['60']).pid); setInterval(() => {}, 1000);`;
    writeFileSync(dir.join('b.mjs'), text);
    const stuck = await spawnNode(dir.join('b.mjs'), { deadline: 1000 });
    expect(stuck).toMatchObject({ signal: 'SIGKILL', timedOut: true });
    await waitFor(() => !existsSync(`/proc/${stuck.stdout.trim()}`), { what: 'the grandchild to be gone' });
  });
});

describe('seededRandom', () => {
  it('repeats itself by seed', () => {
    const draw = (seed: number) => {
      const random = seededRandom(seed);
      return [random.int(0, 1000), random.next(), random.bytes(7).toString('hex'), random.pick(['a', 'b', 'c'])];
    };
    expect(draw(1)).toEqual(draw(1));
    expect(draw(1)).not.toEqual(draw(2));
  });
});

(canMountDisk() ? describe : describe.skip)('smallDisk (needs root)', () => {
  it('is full when it is full, can be read-only, and is gone afterwards', () => {
    let path: string;
    {
      using disk = smallDisk({ bytes: 65_536 });
      path = disk.path;
      writeFileSync(disk.join('fits'), Buffer.alloc(1000));
      expect(() => writeFileSync(disk.join('big'), Buffer.alloc(100_000))).toThrow(/ENOSPC/);
      disk.readOnly(true);
      expect(() => writeFileSync(disk.join('fits'), 'x')).toThrow(/EROFS/);
    }
    expect(existsSync(path)).toBe(false);
  });
});
