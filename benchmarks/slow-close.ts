/**
 * The same repository where each close takes a while (a library between the programs and the kernel sleeps in it): stock
 * hg by stream v1, the only version where it closes in the background, with and without that, against the engine with
 * closers off, on and by itself. In one run, in turns; nothing is printed before all results have been compared and the
 * library's count has shown that it saw every file closed. Usage: node benchmarks/slow-close.ts --help
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type FaultRule, faultCounts, faultEnv, HG_ENV, newestHg } from '@quicksilver/testing';
import { machine } from './lib/machine.ts';
import { type Command, type Measured, measuredRun, median } from './lib/measured-run.ts';
import { storeDigest } from './lib/store-digest.ts';
import { referenceBundle } from './reference/bundle.ts';

const HELP = `node benchmarks/slow-close.ts [--files N] [--delay MICROSECONDS (0: none)] [--rounds N] [--target DIR]
  [--engine-only] [--json]`;
const CHILD = fileURLToPath(new URL('./apply-child.js', import.meta.url));

interface Contender {
  readonly name: string;
  readonly hg: boolean;
  readonly command: (root: string) => Command;
}

interface Row extends Measured {
  readonly closes: number;
}

const options = {
  files: { type: 'string', default: '48896' },
  delay: { type: 'string', default: '1000' },
  rounds: { type: 'string', default: '1' },
  target: { type: 'string', default: '/dev/shm' },
  'engine-only': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;
const { values } = parseArgs({ options });
if (values.help) console.log(HELP);
else await main();

async function main(): Promise<void> {
  const bundle = referenceBundle({ files: Number(values.files), medianText: 1_750, seed: 1 });
  readFileSync(bundle.path); // into the page cache: the disk is not what is measured
  const v1 = values['engine-only'] ? undefined : await legacyBundle(bundle.path);
  const contenders = [...(v1 === undefined ? [] : hgContenders(v1)), ...engineContenders(bundle.path)];
  const folder = mkdtempSync(join(values.target, 'quicksilver-slow-close-'));
  const rows = new Map<Contender, Row[]>(contenders.map((contender) => [contender, []]));
  const digests = new Map<string, string>();
  try {
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const contender of contenders) {
        const root = join(folder, 'root');
        mkdirSync(root);
        if (contender.hg) await newestHg().run(['init', root]);
        const row = await slowRun(contender.command(root), { root, counts: join(folder, 'counts') });
        if (row.closes < bundle.files) throw new Error(`${contender.name}: the library saw only ${row.closes} closes`);
        rows.get(contender)?.push(row);
        digests.set(contender.name, storeDigest(root));
        rmSync(root, { recursive: true });
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  if (new Set(digests.values()).size !== 1) throw new Error(`the results differ: ${JSON.stringify([...digests])}`);
  print(bundle.files, rows);
}

async function slowRun(command: Command, { root, counts }: { root: string; counts: string }): Promise<Row> {
  rmSync(counts, { force: true });
  const rule: FaultRule = { kind: 'close', path: root, delay: Number(values.delay) };
  const measured = await measuredRun({ ...command, env: { ...command.env, ...faultEnv([rule], counts) } });
  return { ...measured, closes: faultCounts(counts, 1)[0]?.calls ?? 0 };
}

/** Stream v1 of the same repository, made by hg itself and kept. */
async function legacyBundle(v2: string): Promise<string> {
  const path = v2.replace(/\.stream-v2\.hg$/, '.stream-v1.hg');
  if (existsSync(path)) return path;
  const scratch = mkdtempSync(join(values.target, 'quicksilver-v1-'));
  try {
    const made = [
      ['init', join(scratch, 'repo')],
      ['-R', join(scratch, 'repo'), 'unbundle', '-q', v2],
      ['-R', join(scratch, 'repo'), 'debugcreatestreamclonebundle', path],
    ];
    for (const args of made) {
      const { code, stderr } = await newestHg().run(args, { deadline: 300_000 });
      if (code !== 0) throw new Error(`hg ${args.join(' ')}: ${stderr}`);
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return path;
}

function hgContenders(v1: string): Contender[] {
  const hg = newestHg();
  const contender = (name: string, backgroundClose: 'yes' | 'no'): Contender => ({
    name: `hg ${hg.version}, stream v1, ${name}`,
    hg: true,
    command: (root) => ({
      program: hg.path,
      args: ['-R', root, '--config', `worker.backgroundclose=${backgroundClose}`, 'debugapplystreamclonebundle', v1],
      env: HG_ENV,
    }),
  });
  return [contender('no background close', 'no'), contender('4 background closers', 'yes')];
}

function engineContenders(v2: string): Contender[] {
  const contender = (name: string, settings: object): Contender => ({
    name: `engine, ${name}`,
    hg: false,
    command: (root) => ({ program: process.execPath, args: [CHILD, v2, root, JSON.stringify(settings)] }),
  });
  return [
    contender('closers off', { backgroundClose: 'off' }),
    contender('4 closers', { backgroundClose: 'on' }),
    contender('auto', {}),
  ];
}

function print(files: number, rows: ReadonlyMap<Contender, readonly Row[]>): void {
  const table = Array.from(rows, ([{ name, hg }, measured]) => ({
    name,
    seconds: median(measured.map((run) => run.seconds)),
    best: Math.min(...measured.map((run) => run.seconds)),
    closes: measured[0]?.closes ?? 0,
    peakMb: Math.max(...measured.map((run) => run.peakRssAnonMb)),
    chosen: hg ? '' : chosen(measured.at(-1)?.stdout ?? ''),
  }));
  if (values.json) {
    console.log(JSON.stringify({ machine: machine(), files, delay: Number(values.delay), table }));
    return;
  }
  const slowest = table[0]?.seconds ?? Number.NaN;
  console.log(`${machine()}\n${files} files, ${values.delay} us a close; ${values.rounds} rounds; ${values.target}\n`);
  console.log('| program | median s | best s | to the first | closes seen | peak RssAnon MB | what was chosen |');
  console.log('|---|---|---|---|---|---|---|');
  for (const { name, seconds, best, closes, peakMb, chosen: what } of table) {
    const ratio = `${(slowest / seconds).toFixed(1)}x`;
    console.log(
      `| ${[name, seconds.toFixed(2), best.toFixed(2), ratio, closes, peakMb.toFixed(0), what].join(' | ')} |`,
    );
  }
}

function chosen(stdout: string): string {
  const { settings } = JSON.parse(stdout) as { settings: { backgroundClose: { closers: number; why: string } } };
  return `${settings.backgroundClose.closers} closers: ${settings.backgroundClose.why}`;
}
