import { applyStreamBundle, type StreamCloneOptions } from '@quicksilver/stream-clone';
import type { MirrorContext } from './context.ts';
import { report } from './context.ts';
import { type Attempt, type CloneWrite, checkStillCurrent, seal, takeFence, type Written } from './fences.ts';
import { type FetchedBundle, type FetchSettings, fetchBundle } from './fetch.ts';
import { checkLinkPlace } from './link.ts';
import { parseMirrorName } from './names.ts';
import { type CloneSource, resolveSource } from './source.ts';
import { takeSpool } from './spool.ts';
import type { TaskRef } from './task-ref.ts';
import type { Volume } from './volume.ts';

/** What is left out is decided by the engine, and said in the receipt. */
export type WriteSettings = Pick<
  StreamCloneOptions,
  | 'writers'
  | 'memoryTarget'
  | 'threads'
  | 'backgroundClose'
  | 'backgroundCloseMinFileCount'
  | 'backgroundCloseMaxQueue'
  | 'backgroundCloseThreadCount'
>;

export interface CloneRequest {
  readonly task: TaskRef;
  readonly mirror: string;
  readonly source: CloneSource;
  /** Directories below which local sources are allowed; undefined allows all. */
  readonly sourceRoots?: readonly string[] | undefined;
  readonly settings: WriteSettings;
  /** For sources that are addresses; without it they are taken from public networks only. */
  readonly fetch?: FetchSettings | undefined;
}

/**
 * The writer's half of the main job: bytes of the source to a private directory, sealed when complete. Safe to run
 * twice or at once, and to be killed anywhere: the next attempt takes the next fence and writes afresh, from what has
 * been fetched so far.
 */
export async function cloneToStaging(volume: Volume, request: CloneRequest, ctx: MirrorContext): Promise<Written> {
  const mirror = parseMirrorName(request.mirror);
  const lane = { task: request.task, mirror };

  report(ctx, 'plan');
  const attempt = await takeFence(volume, lane, ctx);
  if ('write' in attempt) return attempt;
  await checkLinkPlace(volume, mirror);
  const write = await bringBytes(volume, { ...request, mirror, attempt }, ctx).catch(async (err: unknown) => {
    // Whoever takes the lane over moves the directories away: that is what happened then, not what was met in them.
    await checkStillCurrent(volume, lane, attempt);
    throw err;
  });
  await ctx.checkpoint?.('clone-written');

  const written = { ...attempt, write };
  report(ctx, 'seal');
  await seal(volume, lane, { ...ctx, written });
  return written;
}

type Work = CloneRequest & { readonly attempt: Attempt };

async function bringBytes(volume: Volume, work: Work, ctx: MirrorContext): Promise<CloneWrite> {
  const { path, receipt } = await openSource(volume, work, ctx);
  await ctx.checkpoint?.('clone-write-begun');
  const write = await applyStreamBundle({
    source: { kind: 'file', path },
    root: volume.paths.staging(work.attempt.staging),
    ...work.settings,
    ...volume.access,
    signal: ctx.signal,
    onProgress: (progress) => ctx.onProgress?.(progress),
  });
  // The spool is nobody's business: the source is the address.
  return receipt ? { ...write, source: { ...write.source, path: receipt.url }, fetch: receipt } : write;
}

/** A file to read from, where the source's bytes are: its own, or what was fetched of it. */
async function openSource(
  volume: Volume,
  { source, sourceRoots, task, mirror, attempt, fetch = { allowPrivate: false } }: Work,
  ctx: MirrorContext,
): Promise<{ path: string; receipt?: FetchedBundle['receipt'] }> {
  if (source.kind === 'bundle-file') return { path: await resolveSource(source, sourceRoots) };
  const spool = await takeSpool(volume, { task, mirror }, attempt);
  await ctx.checkpoint?.('fetch-spool-taken');
  const fetched = await fetchBundle(source, spool, { settings: fetch, ctx });
  await ctx.checkpoint?.('fetch-done');
  return fetched;
}
