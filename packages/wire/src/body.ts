import type { IncomingMessage } from 'node:http';
import { HgError } from '@quicksilver/hg-types';

/** Bytes that may wait for the disk before the connection is held back. */
const MOST_WAITING = 1024 * 1024;

/**
 * The body of an answer, every byte of it: a stream that breaks drops what nobody has read yet, but here that comes
 * before the fault. Made in the moment that the answer comes, since from then on a byte may come with a fault behind it.
 */
export class Body implements Disposable {
  readonly #response: IncomingMessage;
  readonly #waiting: Uint8Array[] = [];
  #size = 0;
  #end: { readonly fault?: unknown } | undefined;
  #wake = (): void => {};

  constructor(response: IncomingMessage) {
    this.#response = response;
    response.on('data', (piece: Uint8Array) => {
      this.#waiting.push(piece);
      this.#size += piece.length;
      if (this.#size > MOST_WAITING) response.pause();
      this.#wake();
    });
    response.once('end', () => this.#ended({}));
    response.on('error', (fault: unknown) => this.#ended({ fault }));
    response.once('close', () => this.#ended({ fault: new HgError('HG_NETWORK', 'the connection was cut') }));
  }

  /** @throws HgError HG_NETWORK after so many milliseconds of silence; what the reader takes in between does not count. */
  async *pieces(idleMs: number): AsyncGenerator<Uint8Array> {
    for (;;) {
      for (let piece = this.#waiting.shift(); piece; piece = this.#waiting.shift()) {
        this.#size -= piece.length;
        yield piece;
      }
      if (this.#end) break;
      this.#response.resume();
      await this.#more(idleMs);
    }
    if (this.#end.fault !== undefined) throw this.#end.fault;
  }

  [Symbol.dispose](): void {
    this.#response.destroy();
  }

  #more(idleMs: number): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new HgError('HG_NETWORK', 'the source has fallen silent', { idleMs }));
      }, idleMs);
      this.#wake = () => {
        this.#wake = () => {};
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #ended(end: { readonly fault?: unknown }): void {
    this.#end ??= end;
    this.#wake();
  }
}
