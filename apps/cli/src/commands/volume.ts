import { existsSync, readdirSync } from 'node:fs';
import { printable } from '@quicksilver/hg-types';
import { type MirrorFacts, scanVolume, Volume } from '@quicksilver/mirror';
import { EXIT } from '../cli/exit-codes.ts';
import { AdvisedError } from '../cli/faults.ts';
import { type CommonFlags, inSession, OK, Session } from '../cli/session.ts';
import { formatBytes, plural } from '../terminal/format.ts';

export interface InitFlags extends CommonFlags {
  readonly name: string;
}

/** Makes a directory a volume. Only on request: services would else fill the disk below a mount that is not there. */
export function volumeInit(dir: string, flags: InitFlags): Promise<number> {
  return inSession(new Session(flags), async (session) => {
    refuseForeign(dir);
    const { name, root } = await Volume.init(dir, { name: flags.name });
    session.record('volume', { name, path: root });
    session.say(printable(`volume ${name} in ${root}: QUICKSILVER_VOLUMES=${name}=${root}`));
    return OK;
  });
}

/** A volume may be made again; a directory that holds anything else is most likely a mistake. */
function refuseForeign(dir: string): void {
  if (!existsSync(dir)) return;
  const names = readdirSync(dir);
  if (names.includes('volume.json') || names.every((name) => name === 'lost+found')) return;
  throw new AdvisedError('HG_EXISTS', 'the directory is not empty, and no volume', {
    where: { path: dir },
    advice: 'Give a new or empty one.',
  });
}

/** Lists what the disk says; exit code 1 when something on it does not fit together. */
export function volumeScan(dir: string, flags: CommonFlags): Promise<number> {
  return inSession(new Session(flags), async (session) => {
    const volume = await Volume.open(dir);
    let mirrors = 0;
    let troubled = 0;
    for await (const facts of scanVolume(volume)) {
      session.signal.throwIfAborted();
      mirrors += 1;
      if (facts.problems.length > 0) troubled += 1;
      session.record('mirror', facts);
      session.say(mirrorLines(facts));
    }
    session.record('volume', { name: volume.name, path: volume.root, mirrors, troubled });
    session.say(
      `${plural(mirrors, 'mirror')} on volume ${volume.name}${troubled ? `, ${troubled} with problems` : ''}`,
    );
    return troubled > 0 ? EXIT.failed : OK;
  });
}

function mirrorLines(facts: MirrorFacts): string {
  const { name, generation, receipt, path, generations, problems } = facts;
  const parts = [name];
  if (generation === undefined) parts.push('nothing shown');
  else parts.push(`generation ${generation}`);
  if (receipt) {
    const { write, proof, times } = receipt;
    parts.push(plural(write.files, 'file'), formatBytes(write.bytes), plural(proof.changesets, 'changeset'));
    parts.push(plural(proof.heads.count, 'head'), `published ${times.published}`);
  }
  const others = generations.filter((n) => n !== generation);
  if (others.length > 0) parts.push(`also on disk: ${others.join(' ')}`);
  return [parts.join('  '), ...(path ? [`  ${path}`] : []), ...problems.map((problem) => `  problem: ${problem}`)]
    .map(printable)
    .join('\n');
}
