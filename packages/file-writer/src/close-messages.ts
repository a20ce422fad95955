import type { CloseQueueHandle } from './close-queue.ts';

/** What a closer thread is started with. */
export interface CloseThreadData {
  readonly queue: CloseQueueHandle;
  /** Give the work back to the writers while close is fast. */
  readonly watch: boolean;
}

/** The last word of a closer. */
export interface CloseReply {
  readonly kind: 'closed';
  readonly files: number;
}
