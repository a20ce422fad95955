import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { HgError } from '@quicksilver/hg-types';
import { hasErrno } from '../durable.ts';

/** Store files below these are listed in fncache; all others lie at the root of the store. */
const LISTED = /^(?:data|meta|dh)\//;

export interface FileTally {
  files: number;
  /** Zero where lengths were not asked for. */
  bytes: number;
  /** Paths relative to the folder, of what fncache must list. */
  readonly listed: Set<string>;
}

export interface TallyOptions {
  readonly signal: AbortSignal;
  /** Files at the top of the folder that no stream brought. */
  readonly skip: ReadonlySet<string>;
  /** Whether to look at each file's length; without, a folder tells all that is asked of its files at once. */
  readonly lengths: boolean;
  readonly onFile?: ((files: number) => void) | undefined;
}

/** How often others get a turn while a large tree is looked at. */
const TURN = 2048;

/** Counts what lies in a folder of a repository, and adds up lengths if wanted. Only files and folders may be there. */
export async function tallyFiles(folder: string, options: TallyOptions): Promise<FileTally> {
  const tally: FileTally = { files: 0, bytes: 0, listed: new Set() };
  let seen = 0;
  const pending = [''];
  for (let prefix = pending.pop(); prefix !== undefined; prefix = pending.pop()) {
    for (const entry of entriesOf(join(folder, prefix))) {
      const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
      if (options.skip.has(path)) continue;
      const found = options.lengths ? lstatSync(join(folder, path)) : entry;
      if (found.isDirectory()) {
        pending.push(path);
      } else if (found.isFile()) {
        tally.files++;
        if ('size' in found) tally.bytes += found.size;
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
function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (err) {
    if (hasErrno(err, 'ENOENT')) return [];
    throw err;
  }
}
