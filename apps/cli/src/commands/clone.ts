import { notYet } from '../cli/faults.ts';
import { type CommonFlags, inSession, OK, Session } from '../cli/session.ts';

export interface CloneFlags extends CommonFlags {
  readonly stream: 'auto' | 'require' | 'never';
  readonly checkout?: string | true | undefined;
  readonly verify: 'quick' | 'sample' | 'full';
  readonly threads: number | 'auto';
  readonly flush: boolean;
}

/** What the options allow in this version, asked before anything is touched. */
export function refuseWhatIsNotThere(source: string, flags: CloneFlags): void {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(source)) {
    throw notYet('cloning from an address is not supported yet', 'Fetch a stream bundle and give its path.');
  }
  if (flags.checkout !== undefined) {
    throw notYet('--checkout is not supported yet', 'Clone without it, then run "hg update" in DEST.');
  }
  if (flags.verify !== 'quick') {
    throw notYet(
      `--verify ${flags.verify} is not supported yet`,
      'Use --verify quick; "hg verify" in DEST checks every hash.',
    );
  }
  if (flags.stream === 'never') {
    throw notYet('--stream never is not supported yet', 'Only stream bundles can be cloned so far: leave it out.');
  }
}

export function clone(source: string, dest: string, flags: CloneFlags): Promise<number> {
  return inSession(new Session(flags), async (session) => {
    refuseWhatIsNotThere(source, flags);
    session.note(dest);
    return OK;
  });
}
