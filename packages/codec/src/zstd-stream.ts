import { createZstdDecompress } from 'node:zlib';
import { runEngine } from './engine.ts';
import { codecError } from './errors.ts';
import { MAGIC_BYTES, SKIPPABLE_SIZE_BYTES } from './layout.ts';
import { littleEndian } from './little-endian.ts';
import { OUTPUT_CHUNK, type StreamWork } from './stream-work.ts';
import { beginsFrame, frameKind, ZstdFrame } from './zstd-frame.ts';

/** Frames one after the other, those to skip among them, until the input ends. There must be one at least. */
export async function* zstdStream(work: StreamWork): AsyncGenerator<Uint8Array> {
  for (let frames = 0; ; frames++) {
    const offset = work.pieces.position;
    const magic = await work.pieces.gather(MAGIC_BYTES);
    if (magic.length === 0 && frames > 0) return;
    switch (frameKind(magic)) {
      case 'data': {
        const engine = createZstdDecompress({ chunkSize: OUTPUT_CHUNK });
        yield* runEngine(engine, frameBytes(work, magic, new ZstdFrame(offset)), work.signal);
        break;
      }
      case 'skippable':
        await skipFrame(work, offset);
        break;
      case 'other':
        if (magic.length < MAGIC_BYTES && beginsFrame(magic)) throw endsEarly(offset);
        if (frames === 0) {
          throw codecError('HG_CORRUPT', 'the data is not compressed as it says', { codec: 'zstd', offset });
        }
        work.trailing(magic.length + (await work.pieces.drain()));
        return;
    }
  }
}

/** The bytes of one frame whose magic number is read already, and not one more. */
async function* frameBytes(work: StreamWork, magic: Uint8Array, frame: ZstdFrame): AsyncGenerator<Uint8Array> {
  frame.scan(magic, 0);
  yield magic;
  while (!frame.complete) {
    const piece = await work.pieces.next();
    if (piece === undefined) throw endsEarly(work.pieces.position);
    const end = frame.scan(piece, 0);
    work.pieces.unread(piece.subarray(end));
    yield piece.subarray(0, end);
  }
}

async function skipFrame(work: StreamWork, offset: number): Promise<void> {
  const size = await work.pieces.gather(SKIPPABLE_SIZE_BYTES);
  if (size.length < SKIPPABLE_SIZE_BYTES) throw endsEarly(offset);
  const length = littleEndian(size);
  if ((await work.pieces.skip(length)) < length) throw endsEarly(offset);
}

function endsEarly(offset: number): Error {
  return codecError('HG_TRUNCATED', 'the compressed data ends too early', { codec: 'zstd', offset });
}
