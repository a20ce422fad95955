import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { spawnNode, tmpDir, waitFor } from '@quicksilver/testing';
import { bootId, processStartTime } from '../src/process-facts.ts';

describe('processStartTime', () => {
  it('is a fixed number of a process, later for a later one', async () => {
    const own = processStartTime(process.pid);
    expect(own).toBeGreaterThan(0);
    expect(processStartTime(process.pid)).toBe(own);
    const child = spawn('sleep', ['5']);
    await once(child, 'spawn');
    expect(processStartTime(pidOf(child))).toBeGreaterThanOrEqual(own ?? 0);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(processStartTime(pidOf(child))).toBeUndefined();
  });

  it('reads past blanks and parentheses in the name of the program', async () => {
    using dir = tmpDir();
    copyFileSync('/bin/sleep', dir.join('we) 1 (ird'));
    const child = spawn(dir.join('we) 1 (ird'), ['5']);
    await once(child, 'spawn');
    expect(processStartTime(pidOf(child))).toBeGreaterThanOrEqual(processStartTime(process.pid) ?? 0);
    child.kill('SIGKILL');
    await once(child, 'exit');
  });

  it('counts a dead process that nobody has waited for as gone', async () => {
    // sh starts a child, execs into a program that never waits, and the child dies.
    const parent = spawn('sh', ['-c', 'sleep 0.05 & echo $!; exec sleep 5'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(line.toString());
    await waitFor(() => processStartTime(pid) === undefined, { what: 'the zombie to be seen as gone' });
    parent.kill('SIGKILL');
    await once(parent, 'exit');
  });
});

describe('bootId', () => {
  it('is the same each time', () => {
    expect(bootId()).toMatch(/^[0-9a-f-]{36}$/);
    expect(bootId()).toBe(bootId());
  });
});

describe('dieWithParent', () => {
  it('ends a child whose parent was killed', async () => {
    using dir = tmpDir();
    const entry = JSON.stringify(new URL('../src/process-facts.ts', import.meta.url).href);
    const child = dir.join('child.mjs');
    const parent = dir.join('parent.mjs');
    writeFileSync(
      child,
      `import { dieWithParent } from ${entry}; dieWithParent(); process.send('ready'); process.on('disconnect', () => {});
       setInterval(() => {}, 1000);`,
    );
    writeFileSync(
      parent,
      `import { fork } from 'node:child_process';
       const c = fork(${JSON.stringify(child)}, { stdio: 'ignore', detached: true });
       c.once('message', () => { console.log(c.pid); process.kill(process.pid, 'SIGKILL'); });`,
    );
    const run = await spawnNode(parent);
    expect(run.signal).toBe('SIGKILL');
    await waitFor(() => processStartTime(Number(run.stdout)) === undefined, { what: 'the orphan to end' });
  });
});

function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error('the child did not start');
  return child.pid;
}
