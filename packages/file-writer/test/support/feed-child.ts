/** Feeds samples in a process of its own and says how it ended. It must then end by itself: nothing is left running. */
import { faultRecord } from '@quicksilver/hg-types';
import { feed } from './feed.ts';
import { sampleFiles } from './samples.ts';

const [root = '', writers = '1', count = '200'] = process.argv.slice(2);

try {
  const result = await feed(sampleFiles(Number(count), 1), {
    root,
    writers: Number(writers),
    blockSize: 32 * 1024,
    count: 2,
    gapEvery: 5_000,
  });
  console.log(JSON.stringify({ result }));
} catch (err) {
  console.log(JSON.stringify({ fault: faultRecord(err) }));
}
