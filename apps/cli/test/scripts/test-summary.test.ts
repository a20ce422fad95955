import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { spawnNode, tmpDir } from '@quicksilver/testing';

const SUMMARY = fileURLToPath(new URL('../../../../script/lib/test-summary.mjs', import.meta.url));

async function summary(result: object | undefined, status: string, ...failedChecks: string[]) {
  using dir = tmpDir();
  if (result) writeFileSync(dir.join('result.json'), JSON.stringify(result));
  const { code, stdout } = await spawnNode(SUMMARY, { args: [dir.join('result.json'), status, ...failedChecks] });
  return { code, last: stdout.trimEnd().split('\n').at(-1) };
}

describe('the closing line of script/test', () => {
  it('counts what passed, failed and was skipped', async () => {
    const result = { numPassedTests: 7, numFailedTests: 2, numPendingTests: 1, numTodoTests: 1 };
    expect(await summary(result, '1')).toEqual({ code: 1, last: '7 passed, 2 failed, 2 skipped' });
    expect(await summary({ numPassedTests: 7 }, '0')).toEqual({ code: 0, last: '7 passed, 0 failed' });
  });

  it('counts a failed check, a suite that could not be run, and a run without a result as failures', async () => {
    expect(await summary({ numPassedTests: 7 }, '0', 'lint', 'types')).toEqual({ code: 1, last: '7 passed, 2 failed' });
    const broken = { numPassedTests: 7, numRuntimeErrorTestSuites: 1 };
    expect(await summary(broken, '1')).toEqual({ code: 1, last: '7 passed, 1 failed' });
    expect(await summary(undefined, '137')).toEqual({ code: 1, last: '0 passed, 1 failed' });
    expect(await summary(undefined, '0')).toEqual({ code: 1, last: '0 passed, 1 failed' });
  });
});
