import type { StreamEntry } from '@quicksilver/bundle';
import { latin1Text } from '@quicksilver/bytes';
import { HgError } from '@quicksilver/hg-types';
import { auditStreamName, directoryEncode, displayName, encodeStorePath } from '@quicksilver/store';

export interface PlannedEntry {
  /** Below the root; undefined for a file that is read and forgotten. */
  readonly path: string | undefined;
  /** Store name of a revlog index, whose header tells what the repository requires. */
  readonly index: string | undefined;
}

const MAX_NAMED = 100;

/** Decides where each file of a stream goes, keeps names from coming twice, and collects what fncache will list. */
export class StoreEntries {
  readonly #pool: Buffer;
  readonly #paths = new Set<string>();
  readonly #fncache = new LineBuffer();
  readonly #dropped: string[] = [];
  #droppedCount = 0;
  #hasTreeManifests = false;

  /** `pool`: the memory that entries are views of. */
  constructor(pool: SharedArrayBuffer) {
    this.#pool = Buffer.from(pool);
  }

  plan(entry: StreamEntry): PlannedEntry {
    const name = this.#nameOf(entry.name);
    const kind = auditStreamName(entry.vfsKey, name);
    switch (kind) {
      case 'cache':
        return { path: this.#once(`.hg/cache/${name}`, name), index: undefined };
      case 'drop':
        this.#drop(name);
        return { path: undefined, index: undefined };
      case 'revlog':
      case 'store-root': {
        const path = this.#once(`.hg/store/${encodeStorePath(name, 'dotencode')}`, name);
        if (kind === 'revlog') {
          this.#fncache.add(directoryEncode(name));
          this.#hasTreeManifests ||= name.startsWith('meta/');
        }
        return { path, index: name.endsWith('.i') ? name : undefined };
      }
    }
  }

  /** Content of `.hg/store/fncache`, in the order of the stream. */
  get fncache(): readonly Uint8Array[] {
    return this.#fncache.pieces;
  }

  get dropped(): readonly string[] {
    const more = this.#droppedCount - this.#dropped.length;
    return more === 0 ? this.#dropped : [...this.#dropped, `... and ${more} more`];
  }

  /** Requirements that names give away. */
  get requirements(): readonly string[] {
    return this.#hasTreeManifests ? ['treemanifest'] : [];
  }

  has(path: string): boolean {
    return this.#paths.has(path);
  }

  #nameOf(name: Uint8Array): string {
    // Most names are views of the pool; only one that a border cut has memory of its own.
    if (name.buffer !== this.#pool.buffer) return latin1Text(name);
    return this.#pool.toString('latin1', name.byteOffset, name.byteOffset + name.length);
  }

  #once(path: string, name: string): string {
    const before = this.#paths.size;
    if (this.#paths.add(path).size > before) return path;
    throw new HgError('HG_CORRUPT', 'the stream holds a file twice', { name: displayName(name), file: path });
  }

  #drop(name: string): void {
    this.#droppedCount++;
    if (this.#dropped.length < MAX_NAMED) this.#dropped.push(displayName(name));
  }
}

const LINES = 64 * 1024;

/** Lines as bytes: a million names as strings would take several times the room. */
class LineBuffer {
  readonly #full: Uint8Array[] = [];
  #current = Buffer.allocUnsafeSlow(LINES);
  #used = 0;

  add(line: string): void {
    const length = line.length + 1;
    if (this.#used + length > this.#current.length) {
      this.#full.push(this.#current.subarray(0, this.#used));
      this.#current = Buffer.allocUnsafeSlow(Math.max(LINES, length));
      this.#used = 0;
    }
    this.#used += this.#current.write(line, this.#used, 'latin1');
    this.#current[this.#used++] = 0x0a;
  }

  get pieces(): readonly Uint8Array[] {
    return [...this.#full, this.#current.subarray(0, this.#used)];
  }
}
