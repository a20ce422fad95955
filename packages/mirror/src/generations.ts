import { readdir } from 'node:fs/promises';
import { HgError } from '@quicksilver/hg-types';
import { hasErrno } from './durable.ts';
import { type Receipt, readReceipt } from './receipt.ts';
import { moveToTrash } from './trash.ts';
import type { Volume } from './volume.ts';

/** What lies below `generations/<mirror>/` under one number. */
export interface GenerationEntry {
  readonly n: number;
  readonly repository: boolean;
  readonly receipt: boolean;
}

/** In rising order. Other names there are not ours and are left alone. */
export async function listGenerations(volume: Volume, mirror: string): Promise<GenerationEntry[]> {
  const found = new Map<number, GenerationEntry>();
  for (const name of await entries(volume.paths.generations(mirror))) {
    const match = /^([1-9][0-9]{0,9})(\.json)?$/.exec(name);
    if (!match) continue;
    const n = Number(match[1]);
    const { repository = false, receipt = false } = found.get(n) ?? {};
    const isReceipt = match[2] !== undefined;
    found.set(n, { n, repository: repository || !isReceipt, receipt: receipt || isReceipt });
  }
  return [...found.values()].sort((a, b) => a.n - b.n);
}

async function entries(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (err) {
    if (hasErrno(err, 'ENOENT')) return [];
    throw err;
  }
}

/**
 * The receipt that a task has already written, whatever became of it after. Newest first, and no further than the
 * first receipt of an earlier task: task numbers rise with generations.
 */
export async function findReceiptOfTask(
  volume: Volume,
  mirror: string,
  task: Receipt['task'],
): Promise<Receipt | undefined> {
  for (const { n, receipt: exists } of (await listGenerations(volume, mirror)).reverse()) {
    if (!exists) continue;
    const receipt = await readableReceipt(volume, mirror, n);
    if (receipt?.task.id === task.id) return receipt;
    if (receipt && receipt.task.number < task.number) return undefined;
  }
  return undefined;
}

/** Damage to one receipt must not stop the work of another task. */
export async function readableReceipt(volume: Volume, mirror: string, n: number): Promise<Receipt | undefined> {
  try {
    return await readReceipt(volume.paths.receipt(mirror, n));
  } catch (err) {
    if (err instanceof HgError && err.code === 'HG_CORRUPT') return undefined;
    throw err;
  }
}

/** Out of its place, receipt and all. @returns what now lies in the trash. */
export async function discardGeneration(volume: Volume, mirror: string, n: number): Promise<string[]> {
  const moved = [
    await moveToTrash(volume, volume.paths.generation(mirror, n)),
    await moveToTrash(volume, volume.paths.receipt(mirror, n)),
  ];
  return moved.flatMap((entry) => entry ?? []);
}
