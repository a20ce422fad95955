import { readdir, rmdir } from 'node:fs/promises';
import { faultRecord } from '@quicksilver/hg-types';
import { hasErrno } from './durable.ts';
import { tryHoldFoldersAlone } from './folders-lock.ts';
import { discardGeneration, type GenerationEntry, listGenerations, readableReceipt } from './generations.ts';
import { Lane, readLane } from './lane/lane.ts';
import type { LaneRecord } from './lane/record.ts';
import { isTaskId, parseStagingName, stagingName } from './layout.ts';
import { removeEmptyFolders, shownGeneration } from './link.ts';
import { decodeMirrorName } from './names.ts';
import type { Receipt } from './receipt.ts';
import { emptyTrash, moveToTrash, trashEntries } from './trash.ts';
import type { Volume } from './volume.ts';

export interface JanitorOptions {
  readonly signal: AbortSignal;
  /** How long a superseded generation stays at its path: longer than any reader needs. */
  readonly graceMs: number;
  /** A second opinion on tasks that no lane knows; without it they count as dead. */
  readonly isTaskAlive?: ((taskId: string) => boolean | Promise<boolean>) | undefined;
  /** Milliseconds since the epoch; for tests. */
  readonly now?: number | undefined;
}

export interface JanitorReport {
  /** Entries of `staging/` that belonged to no live attempt. */
  readonly staging: number;
  /** Downloads of tasks that are over, or that no lane knows. */
  readonly spool: number;
  /** Generations removed: superseded long enough ago, or never shown. */
  readonly generations: number;
  readonly trash: number;
  readonly folders: number;
  /** Mirrors that were being worked on and were left alone. */
  readonly busy: readonly string[];
  readonly problems: readonly string[];
}

interface Round {
  readonly volume: Volume;
  readonly options: JanitorOptions;
  readonly busy: string[];
  readonly problems: string[];
}

/** Removes what nobody needs any more. Safe at any time, next to any work, twice at once, and when killed. */
export async function runJanitor(volume: Volume, options: JanitorOptions): Promise<JanitorReport> {
  const round: Round = { volume, options, busy: [], problems: [] };
  const staging = await clearStaging(round);
  const spool = await clearSpool(round);
  const generations = await clearGenerations(round);
  const entries = await trashEntries(volume);
  const left = await emptyTrash(entries);
  for (const entry of left) round.problems.push(`this cannot be removed: ${entry}`);
  const folders = await clearFolders(round);
  return {
    staging,
    spool,
    generations,
    trash: entries.length - left.length,
    folders,
    busy: round.busy,
    problems: round.problems,
  };
}

/**
 * The listing comes before the lanes are read: an attempt records its fence before it makes its directory, so whatever
 * is listed and alive is known to a lane by then. Names are never used twice, so what is dead stays dead.
 */
async function clearStaging(round: Round): Promise<number> {
  const { volume, options, problems } = round;
  const names = await readdir(volume.paths.folder('staging'));
  const live = await liveAttempts(round);
  if (!live) return 0;
  let count = 0;
  for (const name of names) {
    options.signal.throwIfAborted();
    const attempt = parseStagingName(name);
    if (!attempt) problems.push(`staging holds something that is not ours: ${name}`);
    else if (!live.has(stagingName(attempt.taskId, attempt.fence)) && !(await options.isTaskAlive?.(attempt.taskId))) {
      if (await moveToTrash(volume, volume.paths.staging(name))) count++;
    }
  }
  return count;
}

/** The same for downloads, which belong to a task rather than to one attempt of it. */
async function clearSpool(round: Round): Promise<number> {
  const { volume, options, problems } = round;
  const names = await readdir(volume.paths.folder('spool'));
  const live = names.length > 0 ? await liveAttempts(round) : undefined;
  if (!live) return 0;
  const tasks = new Set([...live].map((name) => parseStagingName(name)?.taskId));
  let count = 0;
  for (const name of names) {
    options.signal.throwIfAborted();
    if (!isTaskId(name)) problems.push(`spool holds something that is not ours: ${name}`);
    else if (!tasks.has(name) && !(await options.isTaskAlive?.(name))) {
      if (await moveToTrash(volume, volume.paths.spool(name))) count++;
    }
  }
  return count;
}

/** Undefined when a lane cannot be read: then no attempt can be called dead. */
async function liveAttempts({ volume, problems }: Round): Promise<Set<string> | undefined> {
  const live = new Set<string>();
  for (const mirror of await encodedNames(volume, 'locks')) {
    try {
      const record = await readLane(volume, mirror);
      if (record && record.state !== 'settled') live.add(stagingName(record.task.id, record.fence));
    } catch (err) {
      problems.push(`${mirror}: the lane cannot be read, staging is left alone: ${faultRecord(err).message}`);
      return undefined;
    }
  }
  return live;
}

async function clearGenerations(round: Round): Promise<number> {
  const { volume, options, busy, problems } = round;
  let count = 0;
  for (const mirror of await encodedNames(volume, 'generations')) {
    options.signal.throwIfAborted();
    try {
      await using lane = await Lane.tryAcquire(volume, mirror);
      if (!lane || (lane.record && lane.record.state !== 'settled')) busy.push(mirror);
      else if (lane.record) count += await clearMirror(round, lane.record);
      else problems.push(`${mirror}: there are generations but no lane record; they are left alone`);
    } catch (err) {
      problems.push(`${mirror}: ${faultRecord(err).message}`);
    }
  }
  return count;
}

/** The lane is held and its task has ended. */
async function clearMirror(round: Round, record: LaneRecord): Promise<number> {
  const { volume } = round;
  const { mirror } = record;
  const shown = await shownGeneration(volume, mirror);
  const entries = await listGenerations(volume, mirror);
  const receipts = new Map<number, Receipt | undefined>();
  for (const { n, receipt } of entries) if (receipt) receipts.set(n, await readableReceipt(volume, mirror, n));

  let count = 0;
  for (const entry of entries) {
    if (entry.n === shown) {
      if (!entry.repository) round.problems.push(`${mirror}: the link shows generation ${shown}, which is not there`);
    } else if (isDue(round, { record, shown, entry, receipts })) {
      await discardGeneration(volume, mirror, entry.n);
      count++;
    }
  }
  if (shown === undefined && entries.length > count) {
    round.problems.push(`${mirror}: no link, but ${entries.length - count} generations; they are left alone`);
  }
  await rmdir(volume.paths.generations(mirror)).catch((err: unknown) => {
    if (!hasErrno(err, 'ENOTEMPTY', 'EEXIST', 'ENOENT')) throw err;
  });
  return count;
}

interface Candidate {
  readonly record: LaneRecord;
  readonly shown: number | undefined;
  readonly entry: GenerationEntry;
  readonly receipts: ReadonlyMap<number, Receipt | undefined>;
}

function isDue({ options }: Round, { record, shown, entry, receipts }: Candidate): boolean {
  // Half of a publication or half of a removal: a repository without a receipt was never proved, or is on its way out.
  if (!entry.repository || !entry.receipt) return true;
  const own = receipts.get(entry.n);
  if (own && own.task.id === record.task.id && record.outcome?.state !== 'ready') return true;
  if (shown === undefined) return false;
  const superseded = entry.n < shown ? successorOf(entry.n, receipts) : own;
  const since = Date.parse(superseded?.times.published ?? '');
  return !Number.isNaN(since) && (options.now ?? Date.now()) - since >= options.graceMs;
}

/** The generation after `n` that can still be read; its publication is when `n` went out of sight. */
function successorOf(n: number, receipts: ReadonlyMap<number, Receipt | undefined>): Receipt | undefined {
  const next = [...receipts].filter(([m, receipt]) => m > n && receipt).sort(([a], [b]) => a - b);
  return next[0]?.[1];
}

async function clearFolders({ volume }: Round): Promise<number> {
  await using folders = await tryHoldFoldersAlone(volume);
  return folders ? removeEmptyFolders(volume) : 0;
}

async function encodedNames(volume: Volume, folder: 'locks' | 'generations'): Promise<string[]> {
  return (await readdir(volume.paths.folder(folder))).flatMap((entry) => decodeMirrorName(entry) ?? []);
}
