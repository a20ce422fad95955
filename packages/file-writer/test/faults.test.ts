import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import {
  canInjectFaults,
  compileFaultLibrary,
  type FaultRule,
  faultCounts,
  faultEnv,
  spawnNode,
  tmpDir,
  treeHash,
} from '@quicksilver/testing';
import type { Closing } from '../src/closers.ts';
import { feed } from './support/feed.ts';
import { sampleFiles } from './support/samples.ts';

const CHILD = fileURLToPath(new URL('./support/feed-child.ts', import.meta.url));
const FILES = 120;

interface Outcome {
  left: string[];
  result?: { files: number; bytes: number };
  fault?: { code: string; where: Record<string, string | number> };
}

interface Setup {
  writers: number;
  closing: Closing | null;
}

const SETUPS: [string, Setup][] = [
  ['1 writer', { writers: 1, closing: null }],
  ['4 writers', { writers: 4, closing: null }],
  ['1 writer and closers', { writers: 1, closing: { mode: 'on', threads: 3, maxQueue: 16 } }],
  ['8 writers and closers', { writers: 8, closing: { mode: 'on', threads: 3, maxQueue: 16 } }],
];

function args({ writers, closing }: Setup, root: string): string[] {
  return [root, String(writers), String(FILES), JSON.stringify(closing)];
}

/** Runs the samples in a child whose calls on files below `root` obey the rules; the child must end by itself. */
async function runWith(rules: FaultRule[], setup: Setup, root: string, counts?: string): Promise<Outcome> {
  const env = faultEnv(
    rules.map((rule) => ({ ...rule, path: root })),
    counts,
  );
  const child = await spawnNode(CHILD, { args: args(setup, root), env, deadline: 30_000 });
  expect(child).toMatchObject({ timedOut: false, code: 0, signal: null, stderr: '' });
  const outcome = JSON.parse(child.stdout) as Outcome;
  expect(outcome.left).toEqual([]);
  return outcome;
}

(canInjectFaults() ? describe : describe.skip).each(SETUPS)('injected faults with %s', (_, setup) => {
  compileFaultLibrary();

  it('adds up writes of one byte each', async () => {
    using dir = tmpDir();
    using good = tmpDir();
    using side = tmpDir();
    const counts = side.join('counts');
    const { result } = await runWith([{ kind: 'write', short: 1 }], setup, dir.path, counts);
    const expected = await feed(sampleFiles(FILES, 1), { root: good.path, writers: 0, blockSize: 1 << 20, count: 2 });
    expect(result).toMatchObject({ files: FILES, bytes: expected.bytes });
    expect(await treeHash(dir.path)).toBe(await treeHash(good.path));
    expect(faultCounts(counts, 1)[0]?.calls).toBeGreaterThan(1000);
  });

  it.each<[string, FaultRule, string]>([
    ['a full disk', { kind: 'write', nth: 60, errno: 'ENOSPC' }, 'HG_NO_SPACE'],
    ['a disk that fills up within a file', { kind: 'write', room: 200_000, errno: 'ENOSPC' }, 'HG_NO_SPACE'],
    ['a quota', { kind: 'write', nth: 60, errno: 'EDQUOT' }, 'HG_NO_SPACE'],
    ['a disk error while writing', { kind: 'write', nth: 77, errno: 'EIO' }, 'HG_IO'],
    ['a disk error while closing the last files', { kind: 'close', from: FILES - 5, errno: 'EIO' }, 'HG_IO'],
    ['an errno that has no class of its own', { kind: 'open', nth: 40, errno: 'ENOTSUP' }, 'HG_IO'],
    ['too many open files', { kind: 'open', nth: 50, errno: 'EMFILE' }, 'HG_TOO_MANY_FILES'],
    ['a full file table', { kind: 'open', nth: 1, errno: 'ENFILE' }, 'HG_TOO_MANY_FILES'],
  ])('reports %s once, with its file', async (_name, rule, code) => {
    using dir = tmpDir();
    const { fault } = await runWith([rule], setup, dir.path);
    expect(fault).toMatchObject({
      code,
      where: { file: expect.stringMatching(/^store\//), offset: expect.any(Number) },
    });
  });

  it('reports the size limit of the process', async () => {
    using dir = tmpDir();
    const child = await spawnNode(CHILD, {
      args: args(setup, dir.path),
      wrapper: ['sh', '-c', 'ulimit -f 160 && exec "$@"', 'sh'],
      deadline: 20_000,
    });
    expect(child).toMatchObject({ timedOut: false, code: 0, signal: null });
    expect((JSON.parse(child.stdout) as Outcome).fault).toMatchObject({
      code: 'HG_FILE_LIMIT',
      where: { file: expect.any(String), offset: expect.any(Number) },
    });
  });
});
