import { printable } from '@quicksilver/hg-types';
import { type MirrorFacts, scanVolume, Volume } from '@quicksilver/mirror';
import { EXIT } from '../cli/exit-codes.ts';
import { type CommonFlags, inSession, OK, Session } from '../cli/session.ts';
import { formatBytes, plural } from '../terminal/format.ts';

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
