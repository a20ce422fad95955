import { inflateSync, zstdDecompressSync } from 'node:zlib';
import { codecError, translate } from './errors.ts';
import { MAGIC_BYTES, SKIPPABLE_SIZE_BYTES } from './layout.ts';
import { littleEndian } from './little-endian.ts';
import { frameKind, ZstdFrame } from './zstd-frame.ts';

/**
 * Decompresses a chunk that is all there, as a revlog stores them. The chunk must be complete and hold nothing else;
 * output over `maxOutput` is HG_LIMIT and never allocated.
 */
export function decompressChunk(name: 'zlib' | 'zstd', chunk: Uint8Array, maxOutput: number): Uint8Array {
  try {
    return name === 'zlib' ? inflateChunk(chunk, maxOutput) : zstdChunk(chunk, maxOutput);
  } catch (err) {
    throw translate(err, { codec: name, input: chunk.length, limit: maxOutput });
  }
}

function inflateChunk(chunk: Uint8Array, maxOutput: number): Uint8Array {
  // `info` adds the engine to the result; the published types do not know.
  const result: unknown = inflateSync(chunk, { maxOutputLength: Math.max(1, maxOutput), info: true });
  if (!hasEngine(result)) throw codecError('HG_CORRUPT', 'zlib gave no account of its input', { codec: 'zlib' });
  const left = chunk.length - result.engine.bytesWritten;
  if (left > 0) throw leftover('zlib', left);
  return within(result.buffer, maxOutput);
}

function zstdChunk(chunk: Uint8Array, maxOutput: number): Uint8Array {
  const outputs: Uint8Array[] = [];
  let left = maxOutput;
  let at = 0;
  do {
    const end = frameEnd(chunk, at);
    if (frameKind(chunk.subarray(at, at + MAGIC_BYTES)) === 'data') {
      const output = zstdDecompressSync(chunk.subarray(at, end), { maxOutputLength: Math.max(1, left) });
      left -= within(output, left).length;
      outputs.push(output);
    }
    at = end;
  } while (at < chunk.length);
  return outputs.length === 1 && outputs[0] ? outputs[0] : new Uint8Array(Buffer.concat(outputs));
}

function frameEnd(chunk: Uint8Array, at: number): number {
  const kind = frameKind(chunk.subarray(at, at + MAGIC_BYTES));
  if (kind === 'other' && at > 0) throw leftover('zstd', chunk.length - at);
  if (kind === 'skippable') {
    const body = at + MAGIC_BYTES + SKIPPABLE_SIZE_BYTES;
    const end = body + littleEndian(chunk.subarray(at + MAGIC_BYTES, body));
    if (end <= chunk.length) return end;
  } else {
    const frame = new ZstdFrame(at);
    const end = frame.scan(chunk, at);
    if (frame.complete) return end;
  }
  throw codecError('HG_TRUNCATED', 'the compressed data ends too early', { codec: 'zstd', offset: at });
}

/** Node refuses a limit of zero, so the last byte is checked here. */
function within(output: Uint8Array, limit: number): Uint8Array {
  if (output.length <= limit) return output;
  throw codecError('HG_LIMIT', 'the decompressed data is too large', { output: output.length, limit });
}

function leftover(codec: string, bytes: number): Error {
  return codecError('HG_CORRUPT', 'there are bytes behind the compressed data', { codec, bytes });
}

function hasEngine(result: unknown): result is { buffer: Uint8Array; engine: { bytesWritten: number } } {
  return typeof result === 'object' && result !== null && 'buffer' in result && 'engine' in result;
}
