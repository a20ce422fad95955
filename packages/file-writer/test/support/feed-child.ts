/**
 * Feeds samples in a process of its own and says how it ended, how long it took and which of its files are still open.
 * It must then end by itself: nothing is left running.
 */
import { readdirSync, readlinkSync } from 'node:fs';
import { faultRecord } from '@quicksilver/hg-types';
import type { Closing } from '../../src/closers.ts';
import { feed } from './feed.ts';
import { sampleFiles } from './samples.ts';

const [root = '', writers = '1', count = '200', closing = 'null'] = process.argv.slice(2);
const started = performance.now();

async function run(): Promise<object> {
  try {
    const result = await feed(sampleFiles(Number(count), 1), {
      root,
      writers: Number(writers),
      blockSize: 32 * 1024,
      count: 2,
      gapEvery: 5_000,
      closing: (JSON.parse(closing) as Closing | null) ?? undefined,
    });
    return { result };
  } catch (err) {
    return { fault: faultRecord(err) };
  }
}

function openBelow(folder: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`);
      return target.startsWith(folder) ? [target] : [];
    } catch {
      return []; // the one that listed them
    }
  });
}

const outcome = await run();
const seconds = (performance.now() - started) / 1000;
console.log(JSON.stringify({ ...outcome, seconds, left: openBelow(root) }));
