import { applyStreamBundle, type StreamCloneOptions } from '@quicksilver/stream-clone';
import type { MirrorContext } from './context.ts';
import { report } from './context.ts';
import { checkStillCurrent, seal, takeFence, type Written } from './fences.ts';
import { checkLinkPlace } from './link.ts';
import { parseMirrorName } from './names.ts';
import { type CloneSource, resolveSource } from './source.ts';
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
}

/**
 * The writer's half of the main job: bytes of the source to a private directory, sealed when complete. Safe to run
 * twice or at once, and to be killed anywhere: the next attempt takes the next fence and begins afresh.
 */
export async function cloneToStaging(volume: Volume, request: CloneRequest, ctx: MirrorContext): Promise<Written> {
  const mirror = parseMirrorName(request.mirror);
  const lane = { task: request.task, mirror };

  report(ctx, 'plan');
  const attempt = await takeFence(volume, lane, ctx);
  if ('write' in attempt) return attempt;
  const path = await resolveSource(request.source, request.sourceRoots);
  await checkLinkPlace(volume, mirror);

  await ctx.checkpoint?.('clone-write-begun');
  const write = await applyStreamBundle({
    source: { kind: 'file', path },
    root: volume.paths.staging(attempt.staging),
    ...request.settings,
    ...volume.access,
    signal: ctx.signal,
    onProgress: (progress) => ctx.onProgress?.(progress),
  }).catch(async (err: unknown) => {
    // Whoever takes the lane over moves the directory away: that is what happened then, not what was met in it.
    await checkStillCurrent(volume, lane, attempt);
    throw err;
  });
  await ctx.checkpoint?.('clone-written');

  const written = { ...attempt, write };
  report(ctx, 'seal');
  await seal(volume, lane, { ...ctx, written });
  return written;
}
