import { spawnSync } from 'node:child_process';
import { cpus, release, totalmem } from 'node:os';

/** One line that says what figures were made on. */
export function machine(): string {
  const commit = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: import.meta.dirname, encoding: 'utf8' });
  const cores = cpus();
  return [
    `${cores[0]?.model ?? 'unknown'}, ${cores.length} cores`,
    `${Math.round(totalmem() / 2 ** 30)} GB`,
    `Linux ${release()}`,
    `Node ${process.version}`,
    `commit ${commit.stdout.trim()}`,
  ].join('; ');
}
