import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

export interface MirrorOnDisk {
  /** Generation the link shows; undefined where there is no link. */
  readonly shown: number | undefined;
  readonly generations: readonly number[];
  /** Receipts by generation. */
  readonly receipts: ReadonlyMap<number, Readonly<Record<string, unknown>>>;
}

/** A volume as an operator sees it with `ls`: independent of the code that wrote it. */
export function mirrorOnDisk(volume: string, name: string): MirrorOnDisk {
  const folder = join(volume, 'generations', encodeURIComponent(name));
  const entries = names(folder);
  const generations = entries.filter((entry) => /^\d+$/.test(entry)).map(Number);
  const receipts = entries.filter((entry) => /^\d+\.json$/.test(entry));
  return {
    shown: shownBy(join(volume, 'mirrors', name)),
    generations: generations.sort((a, b) => a - b),
    receipts: new Map(
      receipts.map((entry) => [Number.parseInt(entry, 10), JSON.parse(readFileSync(join(folder, entry), 'utf8'))]),
    ),
  };
}

function shownBy(link: string): number | undefined {
  try {
    return Number(/(\d+)$/.exec(readlinkSync(link))?.[1]);
  } catch {
    return undefined;
  }
}

/** What no task of the present owns: staging folders and what waits in the trash. Empty when all is settled. */
export function leftovers(volume: string): string[] {
  return ['staging', 'trash', 'spool'].flatMap((folder) =>
    names(join(volume, folder)).map((entry) => `${folder}/${entry}`),
  );
}

export function staging(volume: string): string[] {
  return names(join(volume, 'staging'));
}

function names(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}
