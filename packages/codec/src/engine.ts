import type { Transform } from 'node:stream';
import { types } from 'node:util';

/** What comes out of one of Node's decompressors when it is fed `pieces`. It works on the thread pool. */
export async function* runEngine(
  engine: Transform,
  pieces: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const stop = (): void => {
    engine.destroy(asError(signal?.reason));
  };
  signal?.addEventListener('abort', stop, { once: true });
  const fed = feed(engine, pieces); // never rejects
  try {
    for await (const chunk of engine) {
      if (chunk instanceof Uint8Array) yield chunk;
    }
    // Only here: where reading stops early, a source that is stuck must not keep the reader from leaving.
    await fed;
  } finally {
    signal?.removeEventListener('abort', stop);
    engine.destroy();
  }
}

/** Waits for each piece to be used up before it asks for the next: sources may use their buffers again. */
async function feed(engine: Transform, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const piece of pieces) {
      if (engine.destroyed) return;
      await write(engine, piece);
    }
    engine.end();
  } catch (err) {
    engine.destroy(asError(err));
  }
}

function write(engine: Transform, piece: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    engine.write(piece, (err) => (err ? reject(err) : resolve()));
  });
}

function asError(reason: unknown): Error {
  return types.isNativeError(reason) ? reason : new Error('the input failed', { cause: reason });
}
