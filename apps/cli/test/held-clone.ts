/** A clone that says `held` once all is written and waits there for a signal: node held-clone.ts SOURCE DEST */
import { once } from 'node:events';
import { clone } from '../src/commands/clone.ts';

const [source = '', dest = ''] = process.argv.slice(2);
const flags = {
  stream: 'auto',
  verify: 'quick',
  threads: 'auto',
  backgroundClose: 'auto',
  flush: true,
  quiet: false,
} as const;
const checkpoint = async (name: string) => {
  if (name !== 'local-written') return;
  process.stderr.write('held\n');
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
};
// A listener for a signal keeps no process alive.
const alive = setInterval(() => {}, 1000);
const code = await clone(source, dest, flags, { checkpoint });
clearInterval(alive);
process.exit(code);
