import { resolve } from 'node:path';
import { printable } from '@quicksilver/hg-types';
import { cloneLocal, type LocalCloneOptions, type LocalReceipt } from '@quicksilver/mirror';
import { isAddress } from '@quicksilver/wire';
import { notYet, usage } from '../cli/faults.ts';
import { type CommonFlags, inSession, OK, Session } from '../cli/session.ts';
import { formatBytes, formatDuration, plural } from '../terminal/format.ts';

export interface CloneFlags extends CommonFlags {
  readonly stream: 'auto' | 'require' | 'never';
  readonly checkout?: string | true | undefined;
  readonly verify: 'quick' | 'sample' | 'full';
  readonly digest?: string | undefined;
  readonly threads: number | 'auto';
  readonly memoryTarget?: number | undefined;
  readonly backgroundClose: 'off' | 'on' | 'auto';
  readonly closers?: number | undefined;
  readonly flush: boolean;
}

type CloneParts = Pick<LocalCloneOptions, 'checkpoint'>;

/** What the options allow in this version, asked before anything is touched. */
export function refuseWhatIsNotThere(source: string, flags: CloneFlags): void {
  if (!isAddress(source) && /^[a-z][a-z0-9+.-]+:\/\//i.test(source)) {
    throw notYet(
      'of addresses only http:// and https:// are supported yet',
      'Give the address or the path of a stream bundle.',
    );
  }
  if (flags.digest !== undefined && !isAddress(source)) throw usage('--digest is for bundles that are fetched');
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

/** `parts`: what tests put between the steps. */
export function clone(source: string, dest: string, flags: CloneFlags, parts: CloneParts = {}): Promise<number> {
  return inSession(new Session(flags, 'stopping, and removing what was written ...'), async (session) => {
    refuseWhatIsNotThere(source, flags);
    const began = performance.now();
    const receipt = await cloneLocal({
      source: isAddress(source)
        ? { kind: 'bundle-url', url: source, digest: flags.digest }
        : { kind: 'bundle-file', path: resolve(source) },
      dest,
      settings: {
        writers: flags.threads === 'auto' ? undefined : flags.threads,
        memoryTarget: flags.memoryTarget,
        backgroundClose: flags.backgroundClose,
        backgroundCloseThreadCount: flags.closers,
      },
      flush: flags.flush,
      signal: session.signal,
      onProgress: (progress) => session.progress(progress),
      ...parts,
    });
    session.endProgress();
    const seconds = (performance.now() - began) / 1000;
    session.record('result', { ...receipt, seconds });
    for (const warning of receipt.warnings) session.warn(warning);
    session.say(summary(receipt, seconds));
    return OK;
  });
}

function summary(receipt: LocalReceipt, seconds: number): string {
  const { path, write, proof, flushed } = receipt;
  const written = `${plural(write.files, 'file')}, ${formatBytes(write.bytes)} in ${formatDuration(seconds)}`;
  const history = `${plural(proof.changesets, 'changeset')}, ${plural(proof.heads.count, 'head')}`;
  return printable(
    `${path}: ${written}; ${history}; proved (${proof.level})${flushed ? ' and flushed' : ', not flushed'}`,
  );
}
