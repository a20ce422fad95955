import type { Batch } from './batch.ts';
import type { BatchWriterOptions, Tally } from './batch-writer.ts';
import type { BlocksHandle } from './shared-blocks.ts';

/** What a writer thread is started with. */
export interface WriteThreadData {
  readonly blocks: BlocksHandle;
  readonly options: BatchWriterOptions;
  /** Totals of this writer: written by it alone after each batch, read by the engine as hints. */
  readonly counters: SharedArrayBuffer;
}

export type WriteCommand =
  | { readonly kind: 'batch'; readonly batch: Batch; readonly cost: number }
  | { readonly kind: 'finish' };

export interface WriteReply {
  readonly kind: 'tally';
  readonly tally: Tally;
}

/** Positions in the counters (Float64: a total may pass 2^31). */
export const COUNTER = { files: 0, bytes: 1, cost: 2 } as const;
export const COUNTER_BYTES = 3 * Float64Array.BYTES_PER_ELEMENT;
