import { CodedError } from '@quicksilver/bytes';
import { checkRange, closedFile, type FileBytes } from './file-bytes.ts';
import { MappedRegion } from './mapped-region.ts';
import { OpenFile, type OpenFileOptions } from './open-file.ts';
import { mapRefusal, type StableBy } from './policy.ts';
import { type ExpectedUse, type Populate, type PopulateMode, planPopulate } from './populate.ts';

export interface MapOptions extends OpenFileOptions {
  /** Why nobody shortens the file while it is mapped. */
  readonly stable: StableBy;
  /** `auto` unless given. */
  readonly populate?: Populate | undefined;
  /** `whole` unless given. */
  readonly expectedUse?: ExpectedUse | undefined;
}

/** For mappings that nobody closed: when the last view of one is collected, its pages are given back. */
const forgotten = new FinalizationRegistry<MappedRegion>((region) => region.release());

/**
 * A file as memory. It is unmapped by dispose only, which empties every view of it first: what was kept has length 0
 * then, and nothing reads freed memory. `await using` also waits until the pages are gone.
 */
export class MappedFile implements FileBytes, AsyncDisposable {
  readonly name: string;
  readonly size: number;
  readonly mapped = true;
  /** How its pages are brought in. */
  readonly populate: PopulateMode;
  readonly #region: MappedRegion | undefined;
  #bytes: Uint8Array<ArrayBuffer> | undefined;

  private constructor(file: OpenFile, populate: PopulateMode, expectedUse: ExpectedUse) {
    this.name = file.name;
    this.size = file.size;
    this.populate = populate;
    if (file.size === 0) {
      this.#bytes = new Uint8Array(0); // nothing to map, and nothing to read
      return;
    }
    const { region, view } = MappedRegion.map(file.fd, file.size, populate === 'eager');
    this.#region = region;
    this.#bytes = new Uint8Array(view);
    forgotten.register(view, region, region);
    if (populate === 'background') region.populate();
    else if (populate === 'none' && expectedUse === 'sparse') region.expectFewPlaces();
  }

  /**
   * @throws CodedError HG_POLICY where the file must not be mapped (`openBytes` reads it instead), HG_TRUNCATED where
   * it is too short; errors of the system as they are.
   */
  static open(path: string, options: MapOptions): MappedFile {
    using file = OpenFile.open(path, options);
    const refusal = mapRefusal(file, options.stable);
    if (refusal !== undefined) {
      throw new CodedError('HG_POLICY', 'a file must not be mapped', { file: file.name, reason: refusal });
    }
    return MappedFile.of(file, options);
  }

  /** Of a file that the policy lets pass; it may be closed afterwards. */
  static of(file: OpenFile, { populate = 'auto', expectedUse = 'whole' }: MapOptions): MappedFile {
    return new MappedFile(file, planPopulate(populate, { size: file.size, expectedUse }), expectedUse);
  }

  get bytes(): Uint8Array<ArrayBuffer> {
    if (this.#bytes === undefined) throw closedFile(this.name);
    return this.#bytes;
  }

  read(offset: number, length: number): Uint8Array<ArrayBuffer> {
    checkRange(offset, length, this);
    return this.bytes.subarray(offset, offset + length);
  }

  /** Once no other thread brings in pages: at the end, or soon after dispose. */
  async populated(): Promise<void> {
    await this.#region?.idle();
  }

  [Symbol.dispose](): void {
    const bytes = this.#bytes;
    if (bytes === undefined) return;
    this.#bytes = undefined;
    if (this.#region === undefined) return;
    forgotten.unregister(this.#region);
    bytes.buffer.transfer(); // every view of it has length 0 from here on
    this.#region.release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this[Symbol.dispose]();
    await this.populated();
  }
}
