import { type BigIntStats, closeSync, constants, fstatSync, openSync, read } from 'node:fs';
import { HgError, toHgError } from '@quicksilver/hg-types';

/**
 * A file that belongs to somebody else, open for reading by position. Its state is noted when it is opened and
 * compared at the end: bytes of two states never become one repository.
 */
export class SourceFile implements Disposable {
  readonly path: string;
  readonly size: number;
  readonly #fd: number;
  readonly #opened: BigIntStats;
  #readsUnderWay = 0;
  #disposed = false;

  private constructor(path: string, fd: number, stats: BigIntStats) {
    this.path = path;
    this.#fd = fd;
    this.#opened = stats;
    this.size = Number(stats.size);
  }

  static open(path: string): SourceFile {
    let fd: number | undefined;
    try {
      // A pipe or device would block or never end; without O_NONBLOCK even opening a pipe may.
      fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
      const stats = fstatSync(fd, { bigint: true });
      if (!stats.isFile()) throw new HgError('HG_NOT_BUNDLE', 'the source is not a file', { file: path });
      return new SourceFile(path, fd, stats);
    } catch (err) {
      if (fd !== undefined) closeSync(fd);
      throw unreadable(err, path);
    }
  }

  /** Fills `into` from the system's thread pool; the number of bytes is smaller only at the end of the file. */
  async read(into: Uint8Array, position: number): Promise<number> {
    let done = 0;
    while (done < into.length) {
      const got = await this.#readSome(into, done, position + done);
      if (got === 0) break;
      done += got;
    }
    if (done < into.length && position + done < this.size) throw this.#changed({ offset: position + done });
    return done;
  }

  /** The pieces of the file from `position` on. */
  async *pieces(position: number, pieceSize: number): AsyncGenerator<Uint8Array> {
    for (let at = position; at < this.size; ) {
      const piece = new Uint8Array(Math.min(pieceSize, this.size - at));
      const length = await this.read(piece, at);
      at += length;
      yield piece;
    }
  }

  /** @throws HgError HG_SOURCE_CHANGED when the file is not in the state any more in which it was opened. */
  checkUnchanged(): void {
    const changed = this.#change();
    if (changed) throw changed;
  }

  /** A file that changed meanwhile explains whatever was found wrong with its bytes. */
  explain(err: HgError): HgError {
    return (err.class === 'format' ? this.#change(err) : undefined) ?? err;
  }

  /** Closes the file, as soon as no read is under way: the descriptor's number may be another file's the next moment. */
  [Symbol.dispose](): void {
    this.#disposed = true;
    if (this.#readsUnderWay === 0) closeSync(this.#fd);
  }

  #readSome(into: Uint8Array, offset: number, position: number): Promise<number> {
    this.#readsUnderWay++;
    return new Promise((resolve, reject) => {
      read(this.#fd, into, offset, into.length - offset, position, (err, bytes) => {
        this.#readsUnderWay--;
        if (this.#disposed) this[Symbol.dispose]();
        if (err) reject(toHgError(err, { file: this.path, offset: position }));
        else resolve(bytes);
      });
    });
  }

  #change(cause?: HgError): HgError | undefined {
    const now = fstatSync(this.#fd, { bigint: true });
    if (now.size === this.#opened.size && now.mtimeNs === this.#opened.mtimeNs) return undefined;
    return this.#changed({ sizeNow: Number(now.size) }, cause);
  }

  #changed(where: Record<string, number>, cause?: HgError): HgError {
    return new HgError(
      'HG_SOURCE_CHANGED',
      'the source changed while it was read',
      {
        file: this.path,
        size: this.size,
        ...where,
      },
      cause,
    );
  }
}

/** A file that may not be read is a matter of the source, whatever the same errno means for a target. */
function unreadable(err: unknown, path: string): HgError {
  const fault = toHgError(err, { file: path });
  if (fault.code === 'HG_NOT_FOUND')
    return new HgError('HG_NOT_FOUND', 'the source cannot be found', { file: path }, err);
  if (fault.code !== 'HG_READ_ONLY') return fault;
  return new HgError('HG_NOT_FOUND', 'the source may not be read', { file: path }, err);
}
