/**
 * Applies an uncompressed v2 stream bundle with stock hg and with the engine, in one run on one machine, in turns, and
 * prints medians once all results have been compared. Usage: node benchmarks/apply.ts --help
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { HG_ENV, newestHg } from '@quicksilver/testing';
import { machine } from './lib/machine.ts';
import { type Command, type Measured, measuredRun, median } from './lib/measured-run.ts';
import { storeDigest } from './lib/store-digest.ts';
import { type ReferenceBundle, referenceBundle } from './reference/bundle.ts';

const PRESETS: Readonly<Record<string, { files: number; medianText: number }>> = {
  small: { files: 2_000, medianText: 1_750 },
  reference: { files: 48_896, medianText: 1_750 },
  big: { files: 110_000, medianText: 3_700 },
  gigabyte: { files: 300_000, medianText: 2_600 },
};

const HELP = `node benchmarks/apply.ts [--preset ${Object.keys(PRESETS).join('|')}] [--files N --median BYTES] [--seed N]
  [--bundle FILE] [--rounds N] [--target DIR] [--settings JSON] [--verify] [--json]`;

interface Contender {
  readonly name: string;
  /** Makes what must be there before the clock starts. */
  readonly prepare: (root: string) => Promise<void> | void;
  readonly command: (root: string) => Command;
  /** A second figure out of what it printed. */
  readonly inner?: (stdout: string) => number;
}

const options = {
  preset: { type: 'string', default: 'reference' },
  files: { type: 'string' },
  median: { type: 'string' },
  seed: { type: 'string', default: '1' },
  bundle: { type: 'string' },
  rounds: { type: 'string', default: '5' },
  target: { type: 'string', default: '/dev/shm' },
  settings: { type: 'string', default: '{}' },
  verify: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;
const { values } = parseArgs({ options });
if (values.help) console.log(HELP);
else await main();

async function main(): Promise<void> {
  const bundle = theBundle();
  readFileSync(bundle.path); // into the page cache: the disk is not what is measured
  const contenders = theContenders(bundle.path);
  const folder = mkdtempSync(join(values.target, 'quicksilver-apply-'));
  const runs = new Map<Contender, Measured[]>(contenders.map((contender) => [contender, []]));
  const digests = new Map<string, string>();
  try {
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const contender of contenders) {
        const root = join(folder, 'root');
        mkdirSync(root);
        await contender.prepare(root);
        runs.get(contender)?.push(await measuredRun(contender.command(root)));
        if (round === 0) digests.set(contender.name, await check(root));
        rmSync(root, { recursive: true });
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  if (new Set(digests.values()).size !== 1) throw new Error(`the results differ: ${JSON.stringify([...digests])}`);
  print(bundle, runs);
}

function theBundle(): ReferenceBundle {
  if (values.bundle !== undefined) {
    const { length } = readFileSync(values.bundle);
    return { path: values.bundle, size: length, files: Number.NaN, bytes: Number.NaN };
  }
  const preset = PRESETS[values.preset];
  if (preset === undefined) throw new Error(HELP);
  const files = Number(values.files ?? preset.files);
  return referenceBundle({ files, medianText: Number(values.median ?? preset.medianText), seed: Number(values.seed) });
}

function theContenders(bundle: string): Contender[] {
  const hg = newestHg();
  const unbundle = (name: string, config: readonly string[]): Contender => ({
    name,
    prepare: async (root) => {
      await hg.run(['init', root]);
    },
    command: (root) => ({
      program: hg.path,
      args: ['-R', root, 'unbundle', '-q', ...config.flatMap((setting) => ['--config', setting]), bundle],
      env: HG_ENV,
    }),
  });
  const child = fileURLToPath(new URL('./apply-child.js', import.meta.url));
  const engine: Contender = {
    name: 'engine',
    prepare: () => {},
    command: (root) => ({ program: process.execPath, args: [child, bundle, root, values.settings] }),
    inner: (stdout) => (JSON.parse(stdout) as { seconds: number }).seconds,
  };
  const cli = fileURLToPath(new URL('../apps/cli/dist/main.js', import.meta.url));
  const command: Contender = {
    name: 'quicksilver clone --no-flush',
    prepare: (root) => rmSync(root, { recursive: true }),
    command: (root) => ({ program: process.execPath, args: [cli, 'clone', '--no-flush', bundle, root] }),
  };
  return [
    unbundle(`hg ${hg.version} unbundle`, []),
    unbundle(`hg ${hg.version} unbundle, threads`, ['worker.parallel-stream-bundle-processing=yes']),
    engine,
    ...(existsSync(cli) ? [command] : []),
  ];
}

async function check(root: string): Promise<string> {
  if (values.verify) {
    const verified = await newestHg().run(['-R', root, 'verify', '-q'], { deadline: 300_000 });
    if (verified.code !== 0) throw new Error(`hg verify: ${verified.stderr}${verified.stdout}`);
  }
  return storeDigest(root);
}

function print(bundle: ReferenceBundle, runs: ReadonlyMap<Contender, readonly Measured[]>): void {
  const rows = Array.from(runs, ([{ name, inner }, measured]) => ({
    name,
    seconds: median(measured.map((run) => run.seconds)),
    best: Math.min(...measured.map((run) => run.seconds)),
    inner: inner ? median(measured.map((run) => inner(run.stdout))) : undefined,
    peakMb: Math.max(...measured.map((run) => run.peakRssAnonMb)),
  }));
  if (values.json) {
    console.log(JSON.stringify({ machine: machine(), bundle, rounds: Number(values.rounds), rows }));
    return;
  }
  const [plain, threads] = rows;
  console.log(`${machine()}; ${availableParallelism()} usable`);
  console.log(`${bundle.files} files, ${mb(bundle.bytes)} MB; ${values.rounds} rounds; target ${values.target}\n`);
  console.log('| program | median s | best s | engine itself s | to hg | to hg, threads | peak RssAnon MB |');
  console.log('|---|---|---|---|---|---|---|');
  for (const row of rows) {
    const ratios = [plain, threads].map((hg) => `${((hg?.seconds ?? Number.NaN) / row.seconds).toFixed(2)}x`);
    const inner = row.inner?.toFixed(3) ?? '';
    const cells = [row.name, row.seconds.toFixed(3), row.best.toFixed(3), inner, ...ratios, row.peakMb.toFixed(0)];
    console.log(`| ${cells.join(' | ')} |`);
  }
}

function mb(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
