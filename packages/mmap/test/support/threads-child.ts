// Many threads map one file at once, in turns and under way when they are ended; each maps for itself.
import { createHash } from 'node:crypto';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { MappedFile, type Populate } from '../../src/index.ts';
import { mappingsOf } from './maps.ts';

const MODES: Populate[] = ['none', 'eager', 'background', 'auto'];
const open = (path: string, round: number) =>
  MappedFile.open(path, { stable: 'staging', populate: MODES[round % MODES.length] ?? 'none' });

if (isMainThread) await lead(process.argv[2] ?? '');
else await work(workerData as { path: string; endless: boolean });

async function lead(path: string): Promise<void> {
  const start = (endless: boolean) => new Worker(new URL(import.meta.url), { workerData: { path, endless } });
  const digests = await Promise.all(
    Array.from({ length: 4 }, () => start(false)).map(
      (thread) =>
        new Promise<string>((resolve, reject) => {
          thread.once('message', resolve);
          thread.once('error', reject);
        }),
    ),
  );
  for (let round = 0; round < 4; round++) {
    const thread = start(true);
    await new Promise((resolve) => thread.once('message', resolve));
    await thread.terminate(); // pages of it may be on their way in
  }
  using file = open(path, 0);
  const own = createHash('sha1').update(file.bytes).digest('hex');
  console.log(JSON.stringify({ same: new Set([...digests, own]).size === 1, mapped: mappingsOf(path) >= 1 }));
}

async function work({ path, endless }: { path: string; endless: boolean }): Promise<void> {
  let digest = '';
  for (let round = 0; endless || round < 40; round++) {
    await using file = open(path, round);
    digest = createHash('sha1').update(file.bytes).digest('hex');
    if (endless && round === 3) parentPort?.postMessage('under way');
  }
  parentPort?.postMessage(digest);
}
