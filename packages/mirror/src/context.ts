import type { Checkpoint } from './checkpoints.ts';
import type { LockOptions, LockWait } from './lane/lock-file.ts';

export interface MirrorProgress {
  readonly stage: 'plan' | 'fetch' | 'write' | 'seal' | 'prove' | 'flush' | 'publish';
  readonly files: { readonly done: number; readonly total: number };
  readonly bytes: { readonly done: number; readonly total: number };
  /** For example the holder of a lock that is waited for. */
  readonly note?: string;
}

export interface MirrorContext {
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: MirrorProgress) => void) | undefined;
  /** Called between any two steps that a kill may separate: tests stop or kill the process there. */
  readonly checkpoint?: ((name: Checkpoint) => void | Promise<void>) | undefined;
  /** Milliseconds after which a holder of a lane on this host counts as frozen and is killed (default 30 s). */
  readonly lockDuration?: number | undefined;
}

export const DEFAULT_LOCK_DURATION = 30_000;

const NOTHING = { done: 0, total: 0 };

export function report(
  ctx: Pick<MirrorContext, 'onProgress'>,
  stage: MirrorProgress['stage'],
  more: Partial<MirrorProgress> = {},
): void {
  ctx.onProgress?.({ stage, files: NOTHING, bytes: NOTHING, ...more });
}

/** How long to wait for locks, and what a task shows meanwhile. */
export function lockOptions(ctx: MirrorContext, stage: MirrorProgress['stage']): LockOptions {
  const { signal, lockDuration = DEFAULT_LOCK_DURATION } = ctx;
  return { signal, lockDuration, onWait: (wait) => report(ctx, stage, { note: waitNote(wait) }) };
}

function waitNote({ holder, killed }: LockWait): string {
  if (!holder) return 'waits for the lane of this mirror';
  const who = `process ${holder.pid} on ${holder.host}, since ${holder.at}`;
  return killed ? `ended a frozen holder of the lane: ${who}` : `waits for the lane, held by ${who}`;
}
