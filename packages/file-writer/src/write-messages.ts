import type { Batch } from './batch.ts';
import type { BatchWriterOptions, WriterTally } from './batch-writer.ts';
import type { CloseQueueHandle } from './close-queue.ts';
import type { BlocksHandle } from './shared-blocks.ts';

/** What a writer thread is started with. */
export interface WriteThreadData {
  readonly blocks: BlocksHandle;
  readonly options: BatchWriterOptions;
  /** Totals of this writer: written by it alone after each batch, read by the engine as hints. */
  readonly counters: SharedArrayBuffer;
  readonly closing?: { readonly queue: CloseQueueHandle; readonly watch: boolean } | undefined;
}

export type WriteCommand =
  | { readonly kind: 'batch'; readonly batch: Batch; readonly cost: number }
  | { readonly kind: 'finish' };

export type WriteReply =
  | { readonly kind: 'tally'; readonly tally: WriterTally }
  /** The last closes were slow: their median, in milliseconds. */
  | { readonly kind: 'slow'; readonly median: number };

/** Positions in the counters (Float64: a total may pass 2^31); `fd` is the open file, or -1. */
export const COUNTER = { files: 0, bytes: 1, cost: 2, fd: 3 } as const;
export const COUNTER_BYTES = 4 * Float64Array.BYTES_PER_ELEMENT;
