import { spawnSync } from 'node:child_process';

let setpriv: boolean | undefined;

/**
 * The command line that runs a program tied to this process: the kernel kills it when this process ends, however that
 * happens (`setpriv --pdeathsig` of util-linux; it replaces itself by the program, so the process id is the program's).
 * Where that tool is missing the plain command line comes back: then only an orderly end cleans up.
 */
export function tied(program: string, args: readonly string[]): [string, string[]] {
  setpriv ??= spawnSync('setpriv', ['--pdeathsig', 'KILL', 'true'], { stdio: 'ignore' }).status === 0;
  return setpriv ? ['setpriv', ['--pdeathsig', 'KILL', '--', program, ...args]] : [program, [...args]];
}
