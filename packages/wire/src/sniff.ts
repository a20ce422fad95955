import type { IncomingMessage } from 'node:http';
import type { Where } from '@quicksilver/bytes';
import { HgError } from '@quicksilver/hg-types';

/** `HG10`, `HG20`, `HGS1`: hg help internals.bundles. */
const MAGIC_BYTES = 4;
const MAGIC = /^HG(10|20|S1)$/;

/**
 * Looks at the first bytes of an answer before any of it is kept: servers answer errors, logins and parking pages with
 * status 200 as well, and none of these is ever taken for data.
 */
export class Sniffer {
  readonly #answer: IncomingMessage;
  readonly #where: Where;
  #head: Buffer | undefined = Buffer.alloc(0);

  constructor(answer: IncomingMessage, where: Where) {
    this.#answer = answer;
    this.#where = where;
  }

  /** @returns the bytes that may be kept, nothing while there are too few to tell. */
  push(bytes: Uint8Array): Uint8Array {
    if (this.#head === undefined) return bytes;
    const head = Buffer.concat([this.#head, bytes]);
    this.#head = head;
    if (head.length < MAGIC_BYTES) return head.subarray(0, 0);
    if (!MAGIC.test(head.toString('latin1', 0, MAGIC_BYTES))) throw this.#noBundle(head);
    this.#head = undefined;
    return head;
  }

  /** The answer has ended. */
  end(): void {
    if (this.#head !== undefined) throw this.#noBundle(this.#head);
  }

  #noBundle(head: Buffer): HgError {
    const type = (this.#answer.headers['content-type'] ?? '').slice(0, 100);
    const where = { ...this.#where, status: this.#answer.statusCode ?? 0, ...(type ? { contentType: type } : {}) };
    if (head.length === 0) return new HgError('HG_NOT_BUNDLE', 'the answer of the source is empty', where);
    const page = /html|xml|json|text/i.test(type) || /^\s*[<{]/.test(head.toString('latin1', 0, 64));
    const message = page ? 'the source answers with a page, not with a bundle' : 'what the source sends is no bundle';
    return new HgError('HG_NOT_BUNDLE', message, where);
  }
}
