import { readRevlogHeader, requirementsOfHeader } from '@quicksilver/revlog';

const HEADER = 4;
/** In an inline revlog the first chunk follows the first entry; `(` begins a zstd frame and nothing else. */
const FIRST_CHUNK = 64;
const ZSTD = 0x28;
const INLINE = 0x10000;

/**
 * Looks at the first bytes of each revlog index as they pass: a version or flag that is not known is refused before
 * the clone is complete, and what the bytes need of a reader is required of the repository, whoever forgot to say so.
 * Layout: hg help internals.revlogs.
 */
export class RevlogProbe {
  readonly #requirements = new Set<string>();
  readonly #known = new Set<number>();
  readonly #wanted: number;
  readonly #head = Buffer.alloc(FIRST_CHUNK + 1);
  #name = '';
  #held = 0;

  constructor(streamed: readonly string[]) {
    this.#wanted = streamed.includes('revlog-compression-zstd') ? HEADER : FIRST_CHUNK + 1;
  }

  get requirements(): ReadonlySet<string> {
    return this.#requirements;
  }

  /** An index begins. */
  begin(name: string): void {
    this.#name = name;
    this.#held = 0;
  }

  /** False once enough was seen. */
  data(bytes: Uint8Array): boolean {
    const length = Math.min(bytes.length, this.#wanted - this.#held);
    for (let i = 0; i < length; i++) this.#head[this.#held + i] = bytes[i] ?? 0;
    this.#held += length;
    if (this.#held < this.#wanted) return true;
    this.end();
    return false;
  }

  /** There is no more of an index that is shorter than what is looked at. */
  end(): void {
    const head = this.#head.subarray(0, this.#held);
    if (this.#held >= HEADER) {
      const value = head.readUInt32BE(0);
      if ((value & INLINE) !== 0 && head[FIRST_CHUNK] === ZSTD) this.#requirements.add('revlog-compression-zstd');
      if (this.#known.has(value)) return;
      this.#known.add(value);
    }
    for (const name of requirementsOfHeader(readRevlogHeader(head, this.#name))) this.#requirements.add(name);
  }
}
