import type { Announced, Stream1Params, Stream2Params, Stream3Params } from '@quicksilver/bundle';

/** Versions of streams, by the names that receipts use. */
export type StreamMethod = 'stream-v1' | 'stream-v2' | 'stream-v3';

/** What is known of a stream before its first file. */
export interface StreamPlan extends Announced {
  readonly method: StreamMethod;
  /** As the stream names them. */
  readonly requirements: readonly string[];
  /** The counts were announced, and are held against what comes; else they are estimates. */
  readonly exact: boolean;
}

export function planStream1(params: Stream1Params): StreamPlan {
  return { method: 'stream-v1', ...params, exact: true };
}

export function planStream2(params: Stream2Params): StreamPlan {
  return { method: 'stream-v2', ...params, exact: true };
}

/**
 * Version 3 says how many entries will come: one is a file, or the two or three of a large revlog. As for bytes, there
 * are about as many as the source has; more only if it is compressed.
 */
export function planStream3(
  params: Stream3Params,
  { entryCount, sourceSize }: { readonly entryCount: number; readonly sourceSize: number },
): StreamPlan {
  return { method: 'stream-v3', ...params, fileCount: entryCount, byteCount: sourceSize, exact: false };
}
