/**
 * What the proof reads of a history (both indexes, every changeset with its hash, every changeset's manifest looked up),
 * with files that are read and with files that are mapped. Usage: node benchmarks/proof.ts [--store DIR/.hg/store]
 * [--changesets N] [--rounds N]. Without --store a history of N changesets (a million) is made in --target (/dev/shm).
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { nodeFromHex } from '@quicksilver/hg-types';
import { RevlogFiles, walkRevlog } from '@quicksilver/revlog';
import { machine } from './lib/machine.ts';
import { median } from './lib/measured-run.ts';
import { RevlogWriter } from './reference/revlog-writer.ts';

const options = {
  store: { type: 'string' },
  changesets: { type: 'string', default: '1000000' },
  rounds: { type: 'string', default: '5' },
  target: { type: 'string', default: '/dev/shm' },
} as const;
const { values } = parseArgs({ options });

const WAYS = [undefined, 'staging'] as const;

if (values.store !== undefined) compare(values.store);
else {
  const folder = mkdtempSync(join(values.target, 'quicksilver-proof-'));
  try {
    makeHistory(folder, Number(values.changesets));
    compare(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function compare(store: string): void {
  const times = WAYS.map((): number[] => []);
  const results = new Set<string>();
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const [i, stable] of WAYS.entries()) {
      const start = performance.now();
      results.add(lookThrough(store, stable));
      times[i]?.push((performance.now() - start) / 1000);
    }
  }
  if (results.size !== 1) throw new Error(`the ways differ: ${[...results].join('; ')}`);
  console.log(
    `${machine()}; ${[...results].join('')}; ${values.rounds} rounds\n\n| files are | best s | median s |\n|---|---|---|`,
  );
  for (const [i, way] of ['read', 'mapped'].entries()) {
    const took = times[i] ?? [];
    console.log(`| ${way} | ${Math.min(...took).toFixed(3)} | ${median(took).toFixed(3)} |`);
  }
}

function lookThrough(store: string, stable: 'staging' | undefined): string {
  using changelog = RevlogFiles.open(store, '00changelog', { stable });
  using manifest = RevlogFiles.open(store, '00manifest', { stable, dataUse: 'sparse' });
  const { revisions, storedBytes } = walkRevlog(changelog.index, { data: changelog.data, links: 'own' });
  walkRevlog(manifest.index, { data: manifest.data, links: revisions });
  const reader = changelog.reader();
  for (let rev = 0; rev < revisions; rev++) {
    reader.checkHash(rev);
    const node = Buffer.from(reader.text(rev).subarray(0, 40)).toString('latin1');
    if (manifest.index.findNode(nodeFromHex(node)) === undefined) throw new Error(`no manifest of ${rev}`);
  }
  return `${revisions} changesets, ${storedBytes} bytes of them`;
}

/** Uncompressed: compressing is not what is measured. */
function makeHistory(folder: string, changesets: number): void {
  const [manifest, changelog] = [new RevlogWriter(false), new RevlogWriter(false)];
  for (let rev = 0; rev < changesets; rev++) {
    const file = `file${rev % 100}`;
    manifest.text(Buffer.from(`${file}\0${String(rev).padStart(40, '0')}\n`), rev);
    const head = `${manifest.node.toString('hex')}\nsomebody <who@example.org>\n${1_000_000_000 + rev} 0\n${file}`;
    changelog.text(Buffer.from(`${head}\n\nchange number ${rev}: some words about what it is for`), rev);
  }
  for (const { name, bytes } of [...manifest.files('00manifest'), ...changelog.files('00changelog', false)]) {
    writeFileSync(join(folder, name), bytes);
  }
}
