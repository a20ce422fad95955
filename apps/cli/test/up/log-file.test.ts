import { readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { tmpDir } from '@quicksilver/testing';
import { LogFile } from '../../src/up/log-file.ts';

describe('log file of a child', () => {
  it('appends, and keeps the last lines in mind for the report of a death', () => {
    using dir = tmpDir();
    for (const run of [1, 2]) {
      using log = new LogFile(dir.join('x.log'));
      for (let n = 0; n < 20; n += 1) log.line(`run ${run} line ${n}`);
      expect(log.tail.at(-1)).toBe(`run ${run} line 19`);
      expect(log.tail).toHaveLength(8);
    }
    expect(readFileSync(dir.join('x.log'), 'utf8').split('\n')).toHaveLength(41);
  });

  it('keeps one old file beside it, so that a chatty child cannot fill the disk', () => {
    using dir = tmpDir();
    using log = new LogFile(dir.join('x.log'));
    const text = 'x'.repeat(1024 * 1024);
    for (let n = 0; n < 40; n += 1) log.line(text);
    expect(statSync(dir.join('x.log')).size).toBeLessThan(18 * 1024 * 1024);
    expect(statSync(dir.join('x.log.1')).size).toBeLessThan(18 * 1024 * 1024);
  });
});
