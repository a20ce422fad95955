import { join } from 'node:path';
import { runJanitor, Volume } from '@quicksilver/mirror';
import { treeHash, waitFor } from '@quicksilver/testing';
import type { Deployment } from './deployment.ts';
import { leftovers, mirrorOnDisk, staging } from './volume-view.ts';

/** Digest of the store of a generation: names, modes and contents. */
export function storeHash(volume: string, mirror: string, generation: number): Promise<string> {
  const folder = join(volume, 'generations', encodeURIComponent(mirror), String(generation));
  return treeHash(join(folder, '.hg', 'store'));
}

export interface Published {
  readonly generations: readonly number[];
  readonly receipts: readonly number[];
  readonly shown: number | undefined;
  readonly store: string | undefined;
}

/** What is there of a mirror, in a shape to compare with `{generations: [1], receipts: [1], shown: 1, store}`. */
export async function published(volume: string, mirror: string): Promise<Published> {
  const { generations, receipts, shown } = mirrorOnDisk(volume, mirror);
  return {
    generations,
    receipts: [...receipts.keys()],
    shown,
    store: shown === undefined ? undefined : await storeHash(volume, mirror, shown),
  };
}

/** Settled work leaves nothing in staging, and a janitor's round leaves nothing in the trash. */
export async function expectNothingLeft(site: Deployment, deadline = 10_000): Promise<void> {
  await waitFor(
    () => {
      const entries = staging(site.volume);
      if (entries.length > 0) throw new Error(entries.join(' '));
      return true;
    },
    { deadline, what: 'staging to be empty' },
  );
  await sweep(site.volume);
  const left = leftovers(site.volume);
  if (left.length > 0) throw new Error(`left over: ${left.join(' ')}`);
}

export async function sweep(volume: string): Promise<void> {
  await runJanitor(await Volume.open(volume), { graceMs: 0, signal: AbortSignal.timeout(30_000) });
}
