import { existsSync, realpathSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findProgram } from '../up/redis.ts';

const LAUNCHER = fileURLToPath(new URL('../../../../quicksilver', import.meta.url));

/** How this program can be called again from where its caller is: a command to copy has to work as it stands. */
export function launcherWord(cwd: string, env: NodeJS.ProcessEnv): string {
  const found = findProgram('quicksilver', env);
  if (!existsSync(LAUNCHER) || (found && realpathSync(found) === realpathSync(LAUNCHER))) return 'quicksilver';
  const way = relative(cwd, LAUNCHER);
  return way.startsWith('..') ? LAUNCHER : `./${way}`;
}
