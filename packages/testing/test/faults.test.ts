import { writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { canInjectFaults, type FaultRule, faultCounts, faultEnv } from '../src/faults.ts';
import { spawnNode } from '../src/spawn-node.ts';
import { tmpDir } from '../src/tmp-dir.ts';

/** Writes `size` bytes into <dir>/out and tells what happened to each step. */
const SCRIPT = `
import fs from 'node:fs';
const [dir, size] = process.argv.slice(2);
const tell = (step, call) => { try { console.log(step, call()); } catch (error) { console.log(step, error.code); } };
let fd = -1;
const started = performance.now();
tell('open', () => { fd = fs.openSync(dir + '/out', 'w'); return 'ok'; });
tell('write', () => fs.writeSync(fd, Buffer.alloc(Number(size))));
tell('writev', () => fs.writevSync(fd, [Buffer.alloc(3), Buffer.alloc(4)]));
tell('sync', () => { fs.fdatasyncSync(fd); return 'ok'; });
tell('close', () => { fs.closeSync(fd); return 'ok'; });
tell('size', () => fs.statSync(dir + '/out').size);
console.log('took', Math.floor((performance.now() - started) / 50) * 50);
`;

async function withFaults(rules: (dir: string) => FaultRule[], size = 100) {
  using dir = tmpDir('faults');
  const script = dir.join('script.mjs');
  writeFileSync(script, SCRIPT);
  const made = rules(dir.path);
  const counts = dir.join('counts');
  const ended = await spawnNode(script, { args: [dir.path, String(size)], env: faultEnv(made, counts) });
  if (ended.code !== 0) throw new Error(ended.stderr);
  const said = Object.fromEntries(
    ended.stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' ')),
  );
  return { said, counts: faultCounts(counts, made.length) };
}

(canInjectFaults() ? describe : describe.skip)('the fault library', () => {
  it('leaves all else alone', async () => {
    const { said, counts } = await withFaults(() => [{ kind: 'write', path: '/elsewhere', errno: 'EIO' }]);
    expect(said).toMatchObject({ open: 'ok', write: '100', writev: '7', sync: 'ok', close: 'ok', size: '107' });
    expect(counts).toEqual([{ calls: 0, faults: 0 }]);
  });

  it('fails an open by prefix and by part of the name', async () => {
    const { said, counts } = await withFaults((dir) => [{ kind: 'open', path: dir, has: '/out', errno: 'EMFILE' }]);
    expect(said.open).toBe('EMFILE');
    expect(counts[0]).toEqual({ calls: 1, faults: 1 });
  });

  it('fails only the n-th call, or all from the n-th on', async () => {
    const second = await withFaults((dir) => [{ kind: 'write', path: `${dir}/out`, nth: 2, errno: 'EIO' }]);
    expect(second.said).toMatchObject({ write: '100', writev: 'EIO', size: '100' });
    const all = await withFaults((dir) => [{ kind: 'write', path: `${dir}/out`, from: 1, errno: 'EIO' }]);
    expect(all.said).toMatchObject({ write: 'EIO', writev: 'EIO', size: '0' });
  });

  it('shortens writes', async () => {
    const { said, counts } = await withFaults((dir) => [{ kind: 'write', path: `${dir}/out`, short: 1 }]);
    // libuv goes on after a short write by itself as long as its own loop lasts.
    expect(Number(said.size)).toBe(Number(said.write) + Number(said.writev));
    expect(counts[0]?.faults).toBeGreaterThan(1);
  });

  it('runs out of room after so many bytes, the last write being partial', async () => {
    const { said } = await withFaults((dir) => [{ kind: 'write', path: `${dir}/out`, room: 60, errno: 'ENOSPC' }]);
    expect(said.size).toBe('60');
    expect([said.write, said.writev]).toContain('ENOSPC');
  });

  it('reports an error of close after really closing, and of a sync', async () => {
    const { said } = await withFaults((dir) => [
      { kind: 'close', path: `${dir}/out`, errno: 'EIO' },
      { kind: 'sync', path: `${dir}/out`, errno: 'EIO' },
    ]);
    expect(said).toMatchObject({ sync: 'EIO', close: 'EIO', size: '107' });
  });

  it('makes closes slow', async () => {
    const { said, counts } = await withFaults((dir) => [{ kind: 'close', path: `${dir}/out`, delay: 200_000 }]);
    expect(Number(said.took)).toBeGreaterThanOrEqual(200);
    // Node closes by syscall(SYS_close): the count is the proof that it was seen.
    expect(counts).toEqual([{ calls: 1, faults: 1 }]);
  });
});
