import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { HgError } from '@quicksilver/hg-types';
import { hasErrno } from '../durable.ts';

/** Store files below these are listed in fncache; all others lie at the root of the store. */
const LISTED = /^(?:data|meta|dh)\//;

export interface FileTally {
  files: number;
  bytes: number;
  /** Paths relative to the folder, of what fncache must list. */
  readonly listed: Set<string>;
}

export interface TallyOptions {
  readonly signal: AbortSignal;
  /** Files at the top of the folder that no stream brought. */
  readonly skip: ReadonlySet<string>;
  readonly onFile?: ((files: number) => void) | undefined;
}

/** How often others get a turn while a large tree is looked at. */
const TURN = 2048;

/** Counts what lies in a folder of a repository, by its own sizes on disk. Anything but files and folders is refused. */
export async function tallyFiles(folder: string, options: TallyOptions): Promise<FileTally> {
  const tally: FileTally = { files: 0, bytes: 0, listed: new Set() };
  let seen = 0;
  const pending = [''];
  for (let prefix = pending.pop(); prefix !== undefined; prefix = pending.pop()) {
    for (const name of entriesOf(join(folder, prefix))) {
      const path = prefix === '' ? name : `${prefix}/${name}`;
      if (options.skip.has(path)) continue;
      const stat = lstatSync(join(folder, path));
      if (stat.isDirectory()) {
        pending.push(path);
      } else if (stat.isFile()) {
        tally.files++;
        tally.bytes += stat.size;
        if (LISTED.test(path)) tally.listed.add(path);
      } else {
        throw new HgError('HG_UNPROVED', 'the store holds something that is no file', { file: path });
      }
      if (++seen % TURN === 0) {
        options.onFile?.(tally.files);
        await setImmediate(undefined, { signal: options.signal });
      }
    }
  }
  return tally;
}

/** A folder that is gone, now or in the middle, holds nothing: the tally says what is missing. */
function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (err) {
    if (hasErrno(err, 'ENOENT')) return [];
    throw err;
  }
}
