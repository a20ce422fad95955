import { hash } from 'node:crypto';
import { constants, deflateSync } from 'node:zlib';

/** Layout: hg help internals.revlogs. Written without our own readers, so that it is a judge of them as well. */
const ENTRY = 64;
const VERSION_1 = 1;
const INLINE = 0x0001_0000;
const GENERALDELTA = 0x0002_0000;
/** From so many bytes on, chunks lie in a file of their own. */
const SPLIT_AT = 128 * 1024;
const NULL_NODE = Buffer.alloc(20);

export interface StoreFile {
  /** Store name. */
  readonly name: string;
  readonly bytes: Buffer;
}

export interface Hunk {
  readonly start: number;
  readonly end: number;
  readonly data: Buffer;
}

interface Entry {
  readonly node: Buffer;
  readonly chunk: Buffer;
  readonly size: number;
  readonly base: number;
  readonly link: number;
}

/** One linear history: each revision is the child of the one before, a full text or a delta against it. */
export class RevlogWriter {
  readonly #entries: Entry[] = [];
  readonly #compress: boolean;

  constructor(compress = true) {
    this.#compress = compress;
  }

  get node(): Buffer {
    return this.#entries.at(-1)?.node ?? NULL_NODE;
  }

  text(text: Buffer, link: number): Buffer {
    return this.#add({ text, link, base: this.#entries.length, chunk: this.#chunk(text) });
  }

  /** `text` is the whole new text, `hunks` how it comes from the one before. */
  delta(text: Buffer, hunks: readonly Hunk[], link: number): Buffer {
    const delta = Buffer.concat(
      hunks.flatMap(({ start, end, data }) => [u32(start), u32(end), u32(data.length), data]),
    );
    return this.#add({ text, link, base: this.#entries.length - 1, chunk: this.#chunk(delta) });
  }

  files(radix: string, generaldelta = true): StoreFile[] {
    const total = this.#entries.reduce((sum, { chunk }) => sum + chunk.length, 0);
    const inline = total < SPLIT_AT;
    const header = VERSION_1 | (inline ? INLINE : 0) | (generaldelta ? GENERALDELTA : 0);
    const index: Buffer[] = [];
    const data: Buffer[] = [];
    let offset = 0;
    for (const [rev, entry] of this.#entries.entries()) {
      index.push(this.#entry(rev, { ...entry, offset, header }));
      (inline ? index : data).push(entry.chunk);
      offset += entry.chunk.length;
    }
    const files = [{ name: `${radix}.i`, bytes: Buffer.concat(index) }];
    return inline ? files : [{ name: `${radix}.d`, bytes: Buffer.concat(data) }, ...files];
  }

  #add({ text, link, base, chunk }: { text: Buffer; link: number; base: number; chunk: Buffer }): Buffer {
    // The null node sorts first, so the one parent that there is comes second.
    const node = Buffer.from(hash('sha1', Buffer.concat([NULL_NODE, this.node, text]), 'hex'), 'hex');
    this.#entries.push({ node, chunk, size: text.length, base, link });
    return node;
  }

  #chunk(bytes: Buffer): Buffer {
    if (bytes.length === 0) return bytes;
    if (this.#compress && bytes.length > 44) {
      const packed = deflateSync(bytes, { level: constants.Z_BEST_SPEED });
      if (packed.length < bytes.length) return packed;
    }
    // A leading NUL marks itself.
    return bytes[0] === 0 ? bytes : Buffer.concat([Buffer.from('u'), bytes]);
  }

  #entry(rev: number, entry: Entry & { offset: number; header: number }): Buffer {
    const out = Buffer.alloc(ENTRY);
    out.writeUIntBE(entry.offset, 0, 6);
    if (rev === 0) out.writeUInt32BE(entry.header, 0);
    out.writeInt32BE(entry.chunk.length, 8);
    out.writeInt32BE(entry.size, 12);
    out.writeInt32BE(entry.base, 16);
    out.writeInt32BE(entry.link, 20);
    out.writeInt32BE(rev - 1, 24);
    out.writeInt32BE(-1, 28);
    entry.node.copy(out, 32);
    return out;
  }
}

function u32(value: number): Buffer {
  const out = Buffer.alloc(4);
  out.writeUInt32BE(value);
  return out;
}
