import { bzip2Stream } from './bzip2-stream.ts';
import type { CompressionName } from './compression-name.ts';
import { codecError, translate } from './errors.ts';
import { type OutputLimits, OutputMeter } from './output-meter.ts';
import { PieceSource } from './piece-source.ts';
import type { StreamWork } from './stream-work.ts';
import { inflateStream } from './zlib-stream.ts';
import { zstdStream } from './zstd-stream.ts';

/** `maxOutput`: HG_LIMIT once more has come out. `maxRatio`: the same for output to input, from 64 MiB of output on. */
export interface DecompressOptions extends OutputLimits {
  readonly signal?: AbortSignal | undefined;
  /** Told how many bytes lie behind the compressed data. Without it such bytes are HG_CORRUPT. */
  readonly onTrailing?: ((bytes: number) => void) | undefined;
}

/**
 * Decompresses a stream piece by piece, on the thread pool, with the back-pressure of the reader. The end of the
 * compressed data must come (HG_TRUNCATED), damage is HG_CORRUPT; errors of the source itself pass unchanged.
 */
export function decompressStream(
  name: CompressionName,
  source: AsyncIterable<Uint8Array>,
  options: DecompressOptions = {},
): AsyncIterable<Uint8Array> {
  return run(name, source, options);
}

async function* run(
  name: CompressionName,
  source: AsyncIterable<Uint8Array>,
  options: DecompressOptions,
): AsyncGenerator<Uint8Array> {
  const { signal, onTrailing } = options;
  const meter = new OutputMeter(name, options);
  const pieces = new PieceSource(source, meter);
  const trailing = (bytes: number): void => {
    if (bytes === 0) return;
    if (onTrailing) onTrailing(bytes);
    else throw codecError('HG_CORRUPT', 'there are bytes behind the compressed data', { codec: name, bytes });
  };
  try {
    for await (const chunk of DECODERS[name]({ pieces, meter, signal, trailing })) {
      if (signal?.aborted) break;
      meter.gave(chunk.length);
      yield chunk;
    }
  } catch (err) {
    if (!signal?.aborted) throw translate(err, { codec: name, input: meter.input });
  } finally {
    // Not awaited: a source that is stuck answers only when it goes on. What it says then concerns nobody any more.
    pieces.close().catch(() => undefined);
  }
  if (signal?.aborted) {
    throw codecError('HG_CANCELLED', 'the work was cancelled', { codec: name }, signal.reason);
  }
}

const DECODERS: Readonly<Record<CompressionName, (work: StreamWork) => AsyncIterable<Uint8Array>>> = {
  none: passThrough,
  zlib: inflateStream,
  zstd: zstdStream,
  bzip2: bzip2Stream,
};

async function* passThrough({ pieces, signal }: StreamWork): AsyncGenerator<Uint8Array> {
  while (!signal?.aborted) {
    const piece = await pieces.next();
    if (piece === undefined) return;
    yield piece;
  }
}
