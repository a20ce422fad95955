import type { StreamEntry, StreamFile, StreamSink } from '../../src/index.ts';

export function file(name: string, text: string, vfsKey: 's' | 'c' = 's'): StreamFile {
  return { vfsKey, name, size: text.length, data: Buffer.from(text, 'latin1') };
}

export function join(pieces: Iterable<Uint8Array>): Uint8Array {
  return new Uint8Array(Buffer.concat([...pieces]));
}

/** A file as a sink saw it. */
export interface Seen {
  readonly entry: StreamEntry;
  readonly data: Uint8Array[];
  ended: boolean;
}

/** Takes files as they come, and keeps the views. */
export class Recorder implements StreamSink {
  readonly seen: Seen[] = [];

  file(entry: StreamEntry): void {
    this.seen.push({ entry, data: [], ended: false });
  }

  data(bytes: Uint8Array): void {
    this.seen.at(-1)?.data.push(bytes);
  }

  fileEnd(): void {
    const last = this.seen.at(-1);
    if (last) last.ended = true;
  }

  /** Place, name, size, content, whether its end came. */
  get texts(): [string, string, number, string, boolean][] {
    return this.seen.map(({ entry, data, ended }) => [
      entry.vfsKey,
      latin1(entry.name),
      entry.size,
      latin1(join(data)),
      ended,
    ]);
  }

  /** The same files, to be written again. */
  get files(): StreamFile[] {
    return this.seen.map(({ entry, data }) => ({ ...entry, data }));
  }
}

export function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}

/** What lies between the ends of its chunks, by hand: a decoder under test shall not check itself. */
export function unframe(bytes: Uint8Array): Uint8Array {
  const buffer = Buffer.from(bytes);
  const chunks: Uint8Array[] = [];
  for (let at = 0; buffer.readInt32BE(at) > 0; ) {
    const length = buffer.readInt32BE(at);
    chunks.push(buffer.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return join(chunks);
}

/** In shared memory, as a reader's blocks are. */
export function shared(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}

/** Feeds `bytes` by pieces of `step`. */
export function feed(bytes: Uint8Array, step: number, push: (piece: Uint8Array) => void): void {
  for (let at = 0; at < bytes.length; at += step) push(bytes.subarray(at, at + step));
}
