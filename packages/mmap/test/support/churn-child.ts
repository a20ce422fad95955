// Run with --expose-gc on a file: opens and closes, and forgets to close, very often; says what is left mapped.
import { setImmediate } from 'node:timers/promises';
import { MappedFile, type Populate } from '../../src/index.ts';
import { mappingsOf } from './maps.ts';

const path = process.argv[2] ?? '';
const collect = globalThis.gc ?? (() => {});
const MODES: Populate[] = ['none', 'eager', 'background', 'auto'];
const open = (round: number) =>
  MappedFile.open(path, { stable: 'staging', populate: MODES[round % MODES.length] ?? 'none' });

for (let round = 0; round < 2000; round++) {
  await using file = open(round);
  if (file.bytes[round] === undefined) throw new Error('no byte');
}
const closed = mappingsOf(path);

const kept: Uint8Array[] = [];
for (let round = 0; round < 400; round++) {
  const view = open(round).read(1000, 50); // nobody closes it
  if (round % 100 === 0) kept.push(view);
  if (round % 50 === 0) await setImmediate();
}
for (let round = 0; round < 20 && mappingsOf(path) > kept.length; round++) {
  collect();
  await setImmediate();
}
const left = mappingsOf(path);
// Views that are still held read what they did.
const sums = kept.map((view) => view.reduce((sum, byte) => sum + byte, 0));
console.log(JSON.stringify({ closed, left, held: kept.length, sums: new Set(sums).size, anySum: sums[0] }));
