import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnNode, type TmpDir, tmpDir } from '@quicksilver/testing';
import { pattern } from './support/maps.ts';

// What could end the process runs in one of its own.
const bytes = pattern(1_200_000);
let dir: TmpDir;
let path = '';
beforeAll(() => {
  dir = tmpDir('quicksilver-mmap');
  path = dir.join('file');
  writeFileSync(path, bytes);
});
afterAll(() => dir[Symbol.dispose]());

const support = (name: string) => fileURLToPath(new URL(`./support/${name}-child.ts`, import.meta.url));

async function child(name: string, execArgv: string[] = []): Promise<Record<string, unknown>> {
  const { code, signal, stdout, stderr } = await spawnNode(support(name), { args: [path], execArgv });
  if (code !== 0) throw new Error(`${name} ended with ${code ?? signal}: ${stderr}`);
  return JSON.parse(stdout) as Record<string, unknown>;
}

describe('mappings of a process', () => {
  it('do not pile up, closed or forgotten, and none goes while a part of it is held', async () => {
    const sum = bytes.subarray(1000, 1050).reduce((total, byte) => total + byte, 0);
    const { left, ...facts } = await child('churn', ['--expose-gc']);
    expect(facts).toEqual({ closed: 0, held: 4, sums: 1, anySum: sum });
    // Of 400 that nobody closed: the four that are held, and the last one, which the stack may still name.
    expect(left).toBeGreaterThanOrEqual(4);
    expect(left).toBeLessThanOrEqual(6);
  });

  it('are made by many threads at once, also by ones that are ended meanwhile', async () => {
    expect(await child('threads')).toEqual({ same: true, mapped: true });
  });

  it('K040: end with the process where somebody cuts the file; a file that may be cut is read, and its fault has a code', async () => {
    const run = (stable: string) => {
      writeFileSync(dir.join('cut'), bytes);
      return spawnNode(support('cut'), { args: [dir.join('cut'), stable] });
    };
    expect(await run('unknown')).toMatchObject({ code: 0, stdout: 'HG_TRUNCATED\n' });
    // Why the policy asks: this is what a wrong answer costs.
    expect(await run('staging')).toMatchObject({ stdout: '' });
    expect(await run('staging')).not.toMatchObject({ code: 0 });
  });

  it('are reads where C cannot be called', async () => {
    const preload = dir.join('no-koffi.cjs');
    writeFileSync(
      preload,
      `const { Module } = require('node:module'); const load = Module._load;
       Module._load = (name, ...rest) => { if (name === 'koffi') throw new Error('no binary'); return load(name, ...rest); };`,
    );
    const last = bytes[bytes.length - 1];
    expect(await child('read', ['--require', preload])).toEqual({
      mapped: false,
      size: bytes.length,
      last,
      code: 'HG_POLICY',
    });
  });
});
