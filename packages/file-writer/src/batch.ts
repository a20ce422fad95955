/**
 * What goes to a writer at once: files that lie one after another in one block. The first may continue a file of
 * the batch before, the last may go on in the next; both batches then go to the same writer.
 */
export interface Batch {
  /** The block that the segments lie in; the batch holds one reference to it. */
  readonly block: number;
  /** Paths below the root. */
  readonly paths: string[];
  /** Announced lengths, one per path. */
  readonly sizes: number[];
  /** Segments in this batch, one count per path. */
  readonly counts: number[];
  /** Offset in the block and length, alternating. */
  readonly segments: number[];
  /** The first path is open already. */
  readonly continues: boolean;
  /** The last path is complete with this batch. */
  readonly complete: boolean;
}

/** What a batch costs its writer, in bytes: opening and closing a small file takes about as long as 32 KiB of data. */
const FILE_COST = 32 * 1024;

/** Collects one batch. */
export class BatchBuilder {
  #batch: { -readonly [K in keyof Batch]: Batch[K] };
  #bytes = 0;

  constructor(block: number, continued?: { path: string; size: number }) {
    this.#batch = {
      block,
      paths: continued ? [continued.path] : [],
      sizes: continued ? [continued.size] : [],
      counts: continued ? [0] : [],
      segments: [],
      continues: continued !== undefined,
      complete: false,
    };
  }

  file(path: string, size: number): void {
    this.#batch.paths.push(path);
    this.#batch.sizes.push(size);
    this.#batch.counts.push(0);
  }

  segment(offset: number, length: number): void {
    const { counts, segments } = this.#batch;
    const last = segments.length - 2;
    // Segments that touch become one write.
    if ((counts.at(-1) ?? 0) > 0 && (segments[last] ?? 0) + (segments[last + 1] ?? 0) === offset) {
      segments[last + 1] = (segments[last + 1] ?? 0) + length;
    } else {
      segments.push(offset, length);
      counts[counts.length - 1] = (counts.at(-1) ?? 0) + 1;
    }
    this.#bytes += length;
  }

  /** Nothing to do, or no more than to wait for the next part of a file that goes on. */
  isEmpty(fileIsOpen: boolean): boolean {
    const { continues, paths, segments } = this.#batch;
    return paths.length === 0 || (fileIsOpen && continues && paths.length === 1 && segments.length === 0);
  }

  get continues(): boolean {
    return this.#batch.continues;
  }

  get block(): number {
    return this.#batch.block;
  }

  get files(): number {
    return this.#batch.paths.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get cost(): number {
    return this.#bytes + this.files * FILE_COST;
  }

  build(complete: boolean): Batch {
    this.#batch.complete = complete;
    return this.#batch;
  }
}
