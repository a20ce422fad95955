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
