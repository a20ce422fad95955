import { closeSync, openSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { spawnNode, tmpDir } from '@quicksilver/testing';
import { tryFlock, unlock } from '../src/flock.ts';
import { withoutLibc } from '../src/libc.ts';

describe('flock', () => {
  it('gives an exclusive lock to one descriptor at a time and gives it on after unlock', () => {
    using dir = tmpDir();
    const first = openSync(dir.join('lock'), 'a');
    const second = openSync(dir.join('lock'), 'a');
    expect(tryFlock(first, 'exclusive')).toBe(true);
    expect(tryFlock(second, 'exclusive')).toBe(false);
    expect(tryFlock(second, 'shared')).toBe(false);
    unlock(first);
    expect(tryFlock(second, 'exclusive')).toBe(true);
    closeSync(second);
    closeSync(first);
  });

  it('lets readers share and keeps a writer out', () => {
    using dir = tmpDir();
    const [a, b, c] = [
      openSync(dir.join('lock'), 'a'),
      openSync(dir.join('lock'), 'a'),
      openSync(dir.join('lock'), 'a'),
    ];
    expect(tryFlock(a, 'shared')).toBe(true);
    expect(tryFlock(b, 'shared')).toBe(true);
    expect(tryFlock(c, 'exclusive')).toBe(false);
    for (const fd of [a, b, c]) closeSync(fd);
  });

  it('is free again when its holder is killed', async () => {
    using dir = tmpDir();
    const path = dir.join('lock');
    const script = dir.join('hold.mjs');
    const entry = new URL('../src/flock.ts', import.meta.url).href;
    writeFileSync(
      script,
      `import { openSync } from 'node:fs'; import { tryFlock } from ${JSON.stringify(entry)};
       if (!tryFlock(openSync(${JSON.stringify(path)}, 'a'), 'exclusive')) process.exit(3);
       process.kill(process.pid, 'SIGKILL');`,
    );
    const child = await spawnNode(script);
    expect(child.signal).toBe('SIGKILL');
    const fd = openSync(path, 'a');
    expect(tryFlock(fd, 'exclusive')).toBe(true);
    closeSync(fd);
  });

  it('names the errno of a bad descriptor', () => {
    expect(() => tryFlock(-1, 'exclusive')).toThrow(expect.objectContaining({ code: 'EBADF', syscall: 'flock' }));
  });

  it('refuses rather than pretend where C cannot be called', () => {
    const restore = withoutLibc();
    expect(() => tryFlock(0, 'exclusive')).toThrow(expect.objectContaining({ code: 'HG_UNSUPPORTED' }));
    restore();
  });
});
