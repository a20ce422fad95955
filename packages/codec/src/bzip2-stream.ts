import { Bzip2Decompressor } from '@quicksilver/native';
import { codecError } from './errors.ts';
import { orAborted } from './or-aborted.ts';
import type { StreamWork } from './stream-work.ts';

/** `BZh` and the size of blocks in 100 kB, `1` to `9`. */
const MAGIC_BYTES = 4;
const NOTHING = new Uint8Array(0);

/** Streams one after the other, as parallel compressors write them, until the input ends. There must be one at least. */
export async function* bzip2Stream(work: StreamWork): AsyncGenerator<Uint8Array> {
  for (let streams = 0; ; streams++) {
    const offset = work.pieces.position;
    const magic = await orAborted(work.pieces.gather(MAGIC_BYTES), work.signal);
    if (magic.length === 0 && streams > 0) return;
    if (!beginsStream(magic)) {
      if (streams === 0) {
        throw codecError('HG_CORRUPT', 'the data is not compressed as it says', { codec: 'bzip2', offset });
      }
      work.trailing(magic.length + (await orAborted(work.pieces.drain(), work.signal)));
      return;
    }
    if (magic.length < MAGIC_BYTES) throw endsEarly(offset);
    yield* oneStream(work, magic);
  }
}

/** The library works on a thread, a block at most per call: it says by itself where the stream ends. */
async function* oneStream({ pieces, signal }: StreamWork, magic: Uint8Array): AsyncGenerator<Uint8Array> {
  using decompressor = Bzip2Decompressor.open();
  let input = magic;
  while (!signal?.aborted) {
    const { used, output, ended, full } = await decompressor.run(input);
    if (output.length > 0) yield output;
    const rest = input.subarray(used);
    if (ended) {
      pieces.unread(rest);
      return;
    }
    if (rest.length > 0) input = rest;
    else if (full) input = NOTHING;
    else input = await nextPiece({ pieces, signal });
  }
}

async function nextPiece({ pieces, signal }: Pick<StreamWork, 'pieces' | 'signal'>): Promise<Uint8Array> {
  const piece = await orAborted(pieces.next(), signal);
  if (piece === undefined) throw endsEarly(pieces.position);
  return piece;
}

/** True also for the first bytes of a beginning: more of them did not come. */
function beginsStream(magic: Uint8Array): boolean {
  return /^(B(Z(h[1-9]?)?)?)?$/.test(Buffer.from(magic).toString('latin1'));
}

function endsEarly(offset: number): Error {
  return codecError('HG_TRUNCATED', 'the compressed data ends too early', { codec: 'bzip2', offset });
}
