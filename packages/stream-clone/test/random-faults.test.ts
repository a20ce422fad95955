import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import {
  canInjectFaults,
  type FaultRule,
  faultCounts,
  faultEnv,
  type Random,
  seededRandom,
  spawnNode,
  type TmpDir,
  tmpDir,
  treeHash,
} from '@quicksilver/testing';
import type { StreamCloneOptions, WriteReceipt } from '../src/types.ts';
import { apply } from './support/apply.ts';
import type { AttemptOrder } from './support/attempts-child.ts';
import { indexBytes, save, streamBundle } from './support/bundles.ts';

const CHILD = fileURLToPath(new URL('./support/attempts-child.ts', import.meta.url));
/** More of them: QUICKSILVER_TEST_FAULTS=1000. Each failure names its seed. */
const RUNS = Number(process.env.QUICKSILVER_TEST_FAULTS ?? 100);
/** As many in one process: the library takes so many rules, and what an attempt leaves would trouble the next. */
const BATCH = 25;
const FILES = 150;
const BLOCK = 4_096;

const random = (seed: number): Random => seededRandom(seed);

function sampleBundle(): Buffer {
  const sizes = random(12);
  const files = Array.from({ length: FILES }, (_, i) => ({
    name: `data/d${i % 7}/file${i}.i`,
    bytes: indexBytes(i === 70 ? 200_000 : sizes.int(70, 2_000), i & 0xff),
  }));
  return streamBundle(files, { chunkSize: 32_768 });
}

interface Attempt {
  readonly seed: number;
  /** The one thing that goes wrong; it may lie beyond the last call, and then all is well. */
  readonly rule: FaultRule | undefined;
  readonly cut: number | undefined;
  readonly settings: Partial<StreamCloneOptions>;
}

function attempt(seed: number, size: number): Attempt {
  const dice = random(1_000 + seed);
  const kind = dice.pick(['write', 'open', 'close', 'cut'] as const);
  const errno = dice.pick(
    { write: ['ENOSPC', 'EIO', 'EDQUOT'], open: ['EMFILE', 'EIO'], close: ['EIO'], cut: ['EIO'] }[kind],
  );
  const settings: Partial<StreamCloneOptions> = {
    threads: 'always',
    writers: dice.pick([1, 2, 4, 8]),
    memoryTarget: dice.pick([65_536, 2 ** 20, 2 ** 40]),
    backgroundClose: dice.pick(['off', 'on', 'on', 'auto']),
    backgroundCloseMinFileCount: 0,
    backgroundCloseMaxQueue: dice.pick([1, 16, 384]),
    backgroundCloseThreadCount: dice.pick([1, 3]),
  };
  if (kind === 'cut') {
    return { seed, rule: undefined, cut: dice.int(1, Math.floor(size / BLOCK)) * BLOCK, settings };
  }
  const nth = dice.int(1, FILES + 15);
  return { seed, rule: { kind, nth, errno: errno as 'EIO' }, cut: undefined, settings };
}

interface Outcome {
  readonly receipt?: WriteReceipt;
  readonly fault?: { readonly code: string; readonly where: Readonly<Record<string, string | number>> };
  readonly left: string[];
}

const batches = Array.from({ length: Math.ceil(RUNS / BATCH) }, (_, i) => i * BATCH);

(canInjectFaults() ? describe : describe.skip)(`${RUNS} random single faults, closers and writers mixed`, () => {
  it.each(batches)(
    'from seed %i on: never a success with damage, a hang, or a file left open',
    async (first) => {
      using dir = tmpDir();
      const bundle = save(dir, sampleBundle());
      using good = await apply(bundle, { threads: 'never' });
      const tree = await treeHash(good.root);
      const bytes = readFileSync(bundle);
      const attempts = Array.from({ length: Math.min(BATCH, RUNS - first) }, (_, i) =>
        attempt(first + i, bytes.length),
      );
      const orders = attempts.map((made) => order(made, dir, bytes));
      const rules = attempts.map(({ rule }, i): FaultRule => {
        const path = `${orders[i]?.root}/`;
        return rule === undefined ? { kind: 'sync', path } : { ...rule, path };
      });
      const counts = dir.join('counts');
      const child = await spawnNode(CHILD, {
        args: [JSON.stringify(orders)],
        env: faultEnv(rules, counts),
        deadline: 120_000,
      });
      expect(child).toMatchObject({ timedOut: false, code: 0, signal: null, stderr: '' });
      const outcomes = child.stdout.trim().split('\n');
      expect(outcomes).toHaveLength(attempts.length);
      const made = faultCounts(counts, rules.length);
      for (const [i, line] of outcomes.entries()) {
        const { seed, rule, cut } = attempts[i] ?? {};
        const root = orders[i]?.root ?? '';
        const { fault, receipt, left } = JSON.parse(line) as Outcome;
        const met = cut !== undefined || made[i]?.faults === 1;
        const name = fault?.where.file;
        const seen = {
          seed,
          rule,
          failed: fault !== undefined,
          code: fault?.code ?? 'none',
          tree: receipt && (await treeHash(root)),
          left,
          // The last file of all may be the one that could not be closed.
          looksWhole: existsSync(`${root}/.hg/requires`) && fault !== undefined && name !== '.hg/requires',
        };
        expect(seen).toEqual({
          seed,
          rule,
          failed: met,
          code: met ? expect.stringMatching(/^HG_(NO_SPACE|IO|TOO_MANY_FILES|TRUNCATED|SOURCE_CHANGED)$/) : 'none',
          tree: met ? undefined : tree,
          left: [],
          looksWhole: false,
        });
      }
    },
    150_000,
  );
});

function order({ seed, cut, settings }: Attempt, dir: TmpDir, bytes: Buffer): AttemptOrder {
  const root = dir.join(`root-${seed}`);
  mkdirSync(root);
  const bundle = cut === undefined ? dir.join('bundle.hg') : dir.join(`cut-${seed}.hg`);
  if (cut !== undefined) writeFileSync(bundle, bytes.subarray(0, cut));
  return { bundle, root, settings };
}
