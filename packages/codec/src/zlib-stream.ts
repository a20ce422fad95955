import { createInflate } from 'node:zlib';
import { runEngine } from './engine.ts';
import { OUTPUT_CHUNK, type StreamWork } from './stream-work.ts';

/** One zlib stream (RFC 1950). Its end must come: Node checks the length and the checksum there. */
export async function* inflateStream(work: StreamWork): AsyncGenerator<Uint8Array> {
  const engine = createInflate({ chunkSize: OUTPUT_CHUNK });
  yield* runEngine(
    engine,
    untilFinished(work, () => engine.readableEnded || engine.destroyed),
    work.signal,
  );
  await work.pieces.drain();
  // The engine counts what it used; what else was read lies behind the stream.
  work.trailing(work.meter.input - engine.bytesWritten);
}

async function* untilFinished(work: StreamWork, finished: () => boolean): AsyncGenerator<Uint8Array> {
  while (!finished()) {
    const piece = await work.pieces.next();
    if (piece === undefined) return;
    yield piece;
  }
}
