import type { StreamEntry } from '@quicksilver/bundle';
import { latin1Text } from '@quicksilver/bytes';
import { HgError } from '@quicksilver/hg-types';
import { auditStreamName, displayName } from '@quicksilver/store';
import { StorePaths } from './store-paths.ts';

export interface PlannedEntry {
  /** Below the root; undefined for a file that is read and forgotten. */
  readonly path: string | undefined;
  /** Store name of a revlog index, whose header tells what the repository requires. */
  readonly index: string | undefined;
}

const STORE = '.hg/store/';
const CACHE = 'cache/';
const MAX_NAMED = 100;

/** Decides where each file of a stream goes, keeps names from coming twice, and collects what fncache will list. */
export class StoreEntries {
  readonly #pool: Buffer;
  readonly #paths = new StorePaths();
  readonly #seen = new SeenPaths();
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
    return entry.vfsKey === 'c' ? this.#planCache(name) : this.#planStore(name);
  }

  /** Content of `.hg/store/fncache`, in the order of the stream. */
  get fncache(): readonly Uint8Array[] {
    return this.#fncache.pieces;
  }

  /** Names of files that are not kept, for people. */
  get dropped(): readonly string[] {
    const more = this.#droppedCount - this.#dropped.length;
    return more === 0 ? this.#dropped : [...this.#dropped, `... and ${more} more`];
  }

  /** Requirements that names give away. */
  get requirements(): readonly string[] {
    return this.#hasTreeManifests ? ['treemanifest'] : [];
  }

  /** Whether the root of the store holds a file. */
  hasStoreFile(name: string): boolean {
    return this.#seen.has(STORE, name);
  }

  /**
   * Caches are read and forgotten: hg believes one whose tip fits, whatever else it says about branches and tags, and
   * makes its own when it needs them.
   */
  #planCache(name: string): PlannedEntry {
    auditStreamName('c', name);
    this.#once({ place: CACHE, base: name, name });
    this.#drop(CACHE + name);
    return { path: undefined, index: undefined };
  }

  #planStore(name: string): PlannedEntry {
    const { kind, directory, base, listedDirectory, listedBase } = this.#paths.plan(name);
    if (kind === 'drop') {
      this.#drop(name);
      return { path: undefined, index: undefined };
    }
    const place = STORE + directory;
    this.#once({ place, base, name });
    if (kind === 'revlog') {
      this.#fncache.add(listedDirectory, listedBase);
      this.#hasTreeManifests ||= name.startsWith('meta/');
    }
    return { path: place + base, index: name.endsWith('.i') ? name : undefined };
  }

  #nameOf(name: Uint8Array): string {
    // Most names are views of the pool; only one that a border cut has memory of its own.
    if (name.buffer !== this.#pool.buffer) return latin1Text(name);
    return this.#pool.toString('latin1', name.byteOffset, name.byteOffset + name.length);
  }

  #once({ place, base, name }: { place: string; base: string; name: string }): void {
    if (this.#seen.add(place, base)) return;
    throw new HgError('HG_CORRUPT', 'the stream holds a file twice', { name: displayName(name), file: place + base });
  }

  #drop(name: string): void {
    this.#droppedCount++;
    if (this.#dropped.length < MAX_NAMED) this.#dropped.push(displayName(name));
  }
}

/** Paths by directory: the directory's part is held once, and looked up only when it changes. */
class SeenPaths {
  readonly #directories = new Map<string, Set<string>>();
  #place = '';
  #bases: Set<string> | undefined;

  /** False when the path was there. */
  add(place: string, base: string): boolean {
    if (this.#bases === undefined || this.#place !== place) {
      this.#bases = this.#directories.get(place) ?? new Set();
      this.#directories.set(place, this.#bases);
      this.#place = place;
    }
    const before = this.#bases.size;
    return this.#bases.add(base).size > before;
  }

  has(place: string, base: string): boolean {
    return this.#directories.get(place)?.has(base) ?? false;
  }
}

const LINES = 64 * 1024;

/** Lines as bytes: a million names as strings would take several times the room. */
class LineBuffer {
  readonly #full: Uint8Array[] = [];
  #current = Buffer.allocUnsafeSlow(LINES);
  #used = 0;

  add(start: string, end: string): void {
    const length = start.length + end.length + 1;
    if (this.#used + length > this.#current.length) {
      this.#full.push(this.#current.subarray(0, this.#used));
      this.#current = Buffer.allocUnsafeSlow(Math.max(LINES, length));
      this.#used = 0;
    }
    this.#used += this.#current.write(start, this.#used, 'latin1');
    this.#used += this.#current.write(end, this.#used, 'latin1');
    this.#current[this.#used++] = 0x0a;
  }

  get pieces(): readonly Uint8Array[] {
    return [...this.#full, this.#current.subarray(0, this.#used)];
  }
}
