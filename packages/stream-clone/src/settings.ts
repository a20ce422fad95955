import { availableParallelism } from 'node:os';
import type { BlockGeometry, Closing, ClosingFacts } from '@quicksilver/file-writer';
import type { ClosingReceipt, StreamCloneOptions } from './types.ts';

export const DEFAULT_MEMORY_TARGET = 64 * 1024 * 1024;

/** Larger blocks cost cache misses, smaller ones hand-overs; measured, see benchmarks/README.md. */
const BLOCK = 1024 * 1024;
const MIN_BLOCK = 4 * 1024;
/** More does not get faster (the disk side is what waits), it only takes memory. */
const MAX_POOL = 1024 * 1024 * 1024;
/** Reader and writers need a block each at least. */
const MIN_COUNT = 2;

/** A stream smaller than both is written sooner than threads would have started. */
const THREADS_FROM_FILES = 4_000;
const THREADS_FROM_BYTES = 32 * 1024 * 1024;

/** How the memory target is cut into blocks, for an input of a known size. */
export function planBlocks(memoryTarget: number, inputSize: number): BlockGeometry {
  const pool = Math.min(memoryTarget, MAX_POOL);
  const blockSize = Math.max(MIN_BLOCK, Math.min(BLOCK, 2 ** Math.floor(Math.log2(Math.max(1, pool / 4)))));
  const useful = Math.ceil(inputSize / blockSize) + 1;
  return { blockSize, count: Math.max(MIN_COUNT, Math.min(Math.floor(pool / blockSize), useful)) };
}

export interface WriterChoice {
  /** Threads; 0 writes on the engine's own. */
  readonly threads: number;
  /** The engine's own thread writes as well when the others are busy. */
  readonly help: boolean;
  /** All that write. */
  readonly writers: number;
  readonly why: string;
}

export function chooseWriters(
  { writers, threads = 'auto' }: Pick<StreamCloneOptions, 'writers' | 'threads'>,
  announced: { readonly fileCount: number; readonly byteCount: number },
): WriterChoice {
  const alone = { threads: 0, help: false, writers: 1 };
  if (threads === 'never') return { ...alone, why: 'no threads, as asked' };
  const small = announced.fileCount < THREADS_FROM_FILES && announced.byteCount < THREADS_FROM_BYTES;
  if (threads === 'auto' && small) return { ...alone, why: 'a small stream is written without threads' };
  if (writers !== undefined) return { threads: writers, help: false, writers, why: 'as asked' };
  const cores = availableParallelism();
  // On two cores a second thread would only take turns with the engine's own, which has time to spare.
  if (cores === 2) return { threads: 1, help: true, writers: 2, why: 'one thread and the engine itself, on 2 cores' };
  const count = Math.min(2, cores);
  return { threads: count, help: false, writers: count, why: `two writers at most, ${cores} cores` };
}

const CLOSE_FROM_FILES = 2_048;

export type ClosingChoice =
  | { readonly mode: 'off'; readonly closing: undefined; readonly why: string }
  | { readonly mode: 'on' | 'auto'; readonly closing: Closing };

export function chooseClosing(
  options: StreamCloneOptions,
  { fileCount }: { readonly fileCount: number },
): ClosingChoice {
  const { backgroundClose: mode = 'auto', threads = 'auto' } = options;
  const off = (why: string): ClosingChoice => ({ mode: 'off', closing: undefined, why });
  if (mode === 'off') return off('off, as asked');
  if (threads === 'never') return off('no threads, as asked');
  const least = options.backgroundCloseMinFileCount ?? CLOSE_FROM_FILES;
  if (fileCount < least) return off(`fewer than ${least} files`);
  const { backgroundCloseThreadCount, backgroundCloseMaxQueue } = options;
  return {
    mode,
    closing: { mode, threads: backgroundCloseThreadCount, maxQueue: backgroundCloseMaxQueue, files: fileCount },
  };
}

/** What was chosen and what came of it. */
export function closingReceipt(choice: ClosingChoice | undefined, facts: ClosingFacts | undefined): ClosingReceipt {
  const none = { mode: 'off', closers: 0, maxQueue: 0 } as const;
  if (choice?.closing === undefined) return { ...none, why: choice?.why ?? '' };
  return { ...none, why: '', ...facts, mode: choice.mode };
}
