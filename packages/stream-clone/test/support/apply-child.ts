/** Applies a bundle in a process of its own and says how it ended. It must then end by itself: nothing is left running. */
import { renameSync } from 'node:fs';
import { faultRecord } from '@quicksilver/hg-types';
import { applyStreamBundle } from '../../src/apply.ts';
import type { StreamCloneOptions } from '../../src/types.ts';

const [path = '', root = '', writers = '1', settings = '{}', renameTo] = process.argv.slice(2);
let moved = false;

try {
  const receipt = await applyStreamBundle({
    source: { kind: 'file', path },
    root,
    writers: Number(writers),
    threads: 'always',
    memoryTarget: 65_536,
    ...(JSON.parse(settings) as Partial<StreamCloneOptions>),
    signal: new AbortController().signal,
    onProgress: ({ bytes }) => {
      if (renameTo === undefined || moved || bytes.done === 0) return;
      renameSync(root, renameTo);
      moved = true;
    },
  });
  console.log(JSON.stringify({ receipt }));
} catch (err) {
  console.log(JSON.stringify({ fault: faultRecord(err) }));
}
