import type { OutputMeter } from './output-meter.ts';
import type { PieceSource } from './piece-source.ts';

/** Size of the pieces that come out. */
export const OUTPUT_CHUNK = 128 * 1024;

/** What the decoders of a stream share. */
export interface StreamWork {
  readonly pieces: PieceSource;
  readonly meter: OutputMeter;
  readonly signal: AbortSignal | undefined;
  /** So many bytes lie behind the compressed data. Throws when the caller did not ask to hear of them. */
  trailing(bytes: number): void;
}
