/** Deterministic numbers in [0, 1): the same cuts and flips on every run (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function randomBytes(length: number, random: () => number): Uint8Array {
  return Uint8Array.from({ length }, () => Math.floor(random() * 256));
}

/** Cuts `bytes` into pieces whose lengths `next` gives. */
export async function* inPieces(bytes: Uint8Array, next: () => number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; ) {
    const length = Math.max(0, next());
    yield bytes.subarray(at, at + length);
    at += length;
  }
}

export async function collect(source: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of source) pieces.push(piece.slice());
  return new Uint8Array(Buffer.concat(pieces));
}

/** The code of the error that `action` ends with; 'none' when it ends well. Anything but a coded error is thrown on. */
export async function codeOf(action: () => unknown): Promise<string> {
  try {
    await action();
  } catch (err) {
    if (err instanceof Error && 'code' in err && String(err.code).startsWith('HG_')) return String(err.code);
    throw err;
  }
  return 'none';
}
