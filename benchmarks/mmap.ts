/**
 * Ways to read a file: mapped with each populate mode, and read; 1 MB to 2 GB, in memory and on disk, warm and cold, whole
 * in order and at random places. Also what processes that read one file hold together. Every way must find the same sum
 * before anything is printed. Usage: node benchmarks/mmap.ts --help
 */
import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { machine } from './lib/machine.ts';
import { type MapAsk, type MapReport, runMapChild, startHolders } from './lib/map-runs.ts';
import { median } from './lib/measured-run.ts';
import { makeNoise } from './lib/noise-file.ts';

const HELP = `node benchmarks/mmap.ts [--sizes MB,MB...] [--rounds N] [--memory DIR] [--disk DIR] [--no-cold] [--no-processes]`;

const options = {
  sizes: { type: 'string', default: '1,16,256,2048' },
  rounds: { type: 'string', default: '7' },
  memory: { type: 'string', default: '/dev/shm' },
  disk: { type: 'string', default: fileURLToPath(new URL('../.cache/mmap/', import.meta.url)) },
  'no-cold': { type: 'boolean', default: false },
  'no-processes': { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;
const { values } = parseArgs({ options });

/** `auto` beside the modes that it chooses from; `read` is what happens to files that must not be mapped. */
const WAYS = ['none', 'eager', 'background', 'auto', 'read'] as const;
const FIXED = ['none', 'eager', 'background'] as const;
const MB = 1_000_000;

if (values.help) console.log(HELP);
else await main();

async function main(): Promise<void> {
  const sizes = values.sizes.split(',').map(Number);
  const places: [string, string][] = [
    ['memory', values.memory],
    ['disk', values.disk],
  ];
  const made: string[] = [];
  console.log(`${machine()}; best of ${values.rounds} rounds in turns (median), milliseconds\n`);
  console.log(`| file | use | ${WAYS.join(' | ')} | auto to best fixed |\n|---|---|${'---|'.repeat(WAYS.length + 1)}`);
  try {
    for (const [place, folder] of places) {
      mkdirSync(folder, { recursive: true });
      for (const size of sizes) {
        const path = join(folder, `quicksilver-noise-${size}`);
        if (!existsSync(path) || statSync(path).size !== size * MB) makeNoise(path, size * MB);
        made.push(path);
        for (const use of ['sequential', 'random', 'few'] as const)
          await compare(`${place}, ${size} MB`, { path, use, cold: false });
        if (place === 'disk' && !values['no-cold']) {
          for (const use of ['sequential', 'few'] as const)
            await compare(`disk, cold, ${size} MB`, { path, use, cold: true });
        }
      }
    }
    if (!values['no-processes']) await processes(made.findLast((path) => path.endsWith('-256')) ?? made.at(-1) ?? '');
  } finally {
    for (const path of made) rmSync(path, { force: true });
  }
}

async function compare(name: string, ask: Pick<MapAsk, 'path' | 'use' | 'cold'>): Promise<void> {
  const report = await runMapChild({ ...ask, ways: WAYS, rounds: ask.cold ? 3 : Number(values.rounds) });
  if (new Set(report.sums).size !== 1) throw new Error(`${name}: the ways differ: ${report.sums.join(' ')}`);
  const cells = WAYS.map((way) => `${best(report, way).toFixed(2)} (${median(times(report, way)).toFixed(2)})`);
  const fixed = Math.min(...FIXED.map((way) => best(report, way)));
  const ratio = (best(report, 'auto') / fixed - 1) * 100;
  console.log(`| ${name} | ${ask.use} | ${cells.join(' | ')} | ${ratio >= 0 ? '+' : ''}${ratio.toFixed(1)} % |`);
}

function times(report: MapReport, way: string): number[] {
  return report.times[way] ?? [];
}

function best(report: MapReport, way: string): number {
  return Math.min(...times(report, way));
}

/** What 1, 4 and 16 processes hold of one file: its own pages are shared where it is mapped. */
async function processes(path: string): Promise<void> {
  const size = statSync(path).size / MB;
  console.log(
    `\n| processes that hold ${Math.round(size)} MB | way | RssAnon, all | RssFile, all | PSS, all |\n|---|---|---|---|---|`,
  );
  for (const count of [1, 4, 16]) {
    for (const way of ['background', 'read'] as const) {
      const holders = await startHolders(path, way, count);
      const { anon, file, pss } = holders.memory();
      await holders.stop();
      console.log(
        `| ${count} | ${way} | ${[anon, file, pss].map((kb) => `${Math.round(kb / 1024)} MiB`).join(' | ')} |`,
      );
    }
  }
}
