/** One file, read in several ways in turns; or held until the input ends. What to do is JSON, see lib/map-runs.ts. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { openBytes } from '@quicksilver/mmap';

const ask = JSON.parse(process.argv[2] ?? '{}');
const FEW = 1000;
const MANY = 200_000;

const USES = {
  sequential(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let sum = 0;
    for (let at = 0; at + 32 <= bytes.length; at += 32) sum = (sum + view.getInt32(at)) | 0;
    return sum;
  },
  random: (bytes) => places(bytes, MANY),
  few: (bytes) => places(bytes, FEW),
};

function places(bytes, count) {
  let sum = 0;
  let state = 12_345;
  for (let i = 0; i < count; i++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    sum = (sum + bytes[Math.floor((state / 2 ** 32) * bytes.length)]) | 0;
  }
  return sum;
}

function open(path, way, use) {
  if (way === 'read') return openBytes(path);
  const expectedUse = way === 'auto' && use === 'few' ? 'sparse' : 'whole';
  return openBytes(path, { stable: 'spool', populate: way, expectedUse });
}

/** A few places of a file that is read are read one by one: nobody would read all of it for them. */
function fewReads(file) {
  let sum = 0;
  let state = 12_345;
  for (let i = 0; i < FEW; i++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    sum = (sum + file.read(Math.floor((state / 2 ** 32) * file.size), 1)[0]) | 0;
  }
  return sum;
}

if (ask.hold) await hold();
else await measure();

async function measure() {
  const { path, ways, use, cold, rounds } = ask;
  const times = Object.fromEntries(ways.map((way) => [way, []]));
  const sums = new Set();
  // One round unseen: compiled code and a warm cache for all.
  for (let round = cold ? 0 : -1; round < rounds; round++) {
    for (const way of shuffled(ways)) {
      if (cold) execFileSync('dd', [`of=${path}`, 'oflag=nocache', 'conv=notrunc,fdatasync', 'count=0', 'status=none']);
      globalThis.gc();
      const start = performance.now();
      const file = open(path, way, use);
      sums.add(use === 'few' && !file.mapped ? fewReads(file) : USES[use](file.bytes));
      file[Symbol.dispose]();
      const took = performance.now() - start;
      if (round >= 0) times[way].push(took);
      await sleep(20); // windows that are still under way
    }
  }
  console.log(JSON.stringify({ sums: [...sums], times }));
}

/** Nobody always comes after the same other. */
function shuffled(ways) {
  const keyed = ways.map((way) => [Math.random(), way]).sort(([a], [b]) => a - b);
  return keyed.map(([, way]) => way);
}

async function hold() {
  const file = open(ask.path, ask.hold, 'sequential');
  USES.sequential(file.bytes);
  await file.populated?.();
  console.log('held');
  process.stdin.resume();
  await once(process.stdin, 'end');
  file[Symbol.dispose]();
}
