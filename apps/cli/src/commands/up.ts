import { once } from 'node:events';
import { type CommonFlags, inSession, OK, Session } from '../cli/session.ts';
import { DataDir, defaultDataDir } from '../up/data-dir.ts';
import { Stack, type StackOptions } from '../up/stack.ts';
import { initVolume } from '../up/volume.ts';

export interface UpFlags extends CommonFlags {
  readonly data?: string | undefined;
  readonly port?: number | undefined;
}

/** `parts`: what tests put in place of the services. */
export function up(
  flags: UpFlags,
  parts: Partial<Pick<StackOptions, 'entry' | 'initVolume' | 'deadline'>> = {},
): Promise<number> {
  const session = new Session(flags, 'stopping: work under way is finished or handed back (Ctrl-C again: at once) ...');
  return inSession(session, async () => {
    using dir = DataDir.open(flags.data ?? defaultDataDir(process.env));
    const stack = await Stack.start({
      dir,
      port: flags.port,
      env: process.env,
      tasks: true,
      say: (line) => session.note(line),
      signal: session.signal,
      initVolume,
      ...parts,
    });
    dir.describe({ url: stack.url });
    announce(session, stack, dir);
    if (!session.signal.aborted) await once(session.signal, 'abort');
    await stack.stop();
    session.record('stopped', {});
    session.note('stopped');
    // A service that is told to stop has done what it was asked.
    return OK;
  });
}

function announce(session: Session, stack: Stack, dir: DataDir): void {
  const { url, settings } = stack;
  session.record('ready', { url, docs: `${url}/docs`, data: dir.path, pid: process.pid });
  session.say(`Quicksilver is ready
  API       ${url}/v1
  page      ${url}/docs
  data      ${dir.path}
  sources   ${settings.sourceRoots || 'none: set QUICKSILVER_SOURCE_ROOTS=DIR to clone bundle files below DIR'}
Stop with Ctrl-C.`);
}
