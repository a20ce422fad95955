import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { HgError, toHgError } from '@quicksilver/hg-types';
import { bootId } from '@quicksilver/native';
import type { Validator } from './headers.ts';
import { type Journal, readJournal, writeJournal } from './journal.ts';
import type { SourceUrl } from './source-url.ts';

/** Bytes between two syncs: what a power cut may cost. A killed process costs nothing. */
const SYNC_EVERY = 64 * 1024 * 1024;

type State = Omit<Journal, 'v' | 'key' | 'url' | 'boot'>;

const FRESH = { tries: 0, fruitless: 0, best: 0, received: 0, notBefore: 0 };

/**
 * A download on disk: one file that grows from the front, and the journal beside it. Another version of the source
 * gets another file, so that whoever still writes the old one, frozen since, harms nothing.
 */
export class Spool implements AsyncDisposable {
  readonly dir: string;
  readonly #source: SourceUrl;
  #state: State;
  #file: FileHandle | undefined;
  #unsynced = 0;

  private constructor(dir: string, source: SourceUrl, state: State) {
    this.dir = dir;
    this.#source = source;
    this.#state = state;
  }

  /** Goes on with what lies in `dir`, if it belongs to this address. */
  static async open(dir: string, source: SourceUrl): Promise<Spool> {
    const found = await readJournal(dir, keyOf(source));
    if (!found) return new Spool(dir, source, { ...FRESH, ...empty() });
    const spool = new Spool(dir, source, found);
    await spool.#reopen(found);
    return spool;
  }

  get path(): string {
    return join(this.dir, this.#state.file);
  }
  get have(): number {
    return this.#state.have;
  }
  get size(): number | undefined {
    return this.#state.size;
  }
  get validator(): Validator | undefined {
    return this.#state.validator;
  }
  get complete(): boolean {
    return this.#state.complete;
  }
  get counts(): Pick<State, 'tries' | 'fruitless' | 'received' | 'notBefore' | 'best'> {
    return this.#state;
  }

  /** A version of the source begins: what there was of another one goes. */
  async begin(facts: { validator: Validator | undefined; size: number | undefined }): Promise<void> {
    await this.discard();
    this.#state = { ...this.#state, ...facts };
    await onDisk(async () => {
      await this.#checkRoom();
      this.#file = await open(this.path, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600);
    });
    await this.save(); // from here on a killed process leaves something that can be gone on with
  }

  learnSize(size: number): void {
    this.#state = { ...this.#state, size };
  }

  async write(bytes: Uint8Array): Promise<void> {
    const file = this.#file;
    if (!file) throw new HgError('HG_CLOSED', 'nothing has begun in this spool');
    await onDisk(async () => {
      for (let done = 0; done < bytes.length; ) {
        const { bytesWritten } = await file.write(bytes, done, bytes.length - done, this.#state.have + done);
        done += bytesWritten;
      }
    });
    this.#state = {
      ...this.#state,
      have: this.#state.have + bytes.length,
      received: this.#state.received + bytes.length,
    };
    this.#unsynced += bytes.length;
    if (this.#unsynced >= SYNC_EVERY) await this.save();
  }

  /** The end of one try: whether it brought anything new decides how long there will be others. */
  async tried(more: { notBefore?: number } = {}): Promise<void> {
    const { tries, fruitless, best, have } = this.#state;
    const progress = have > best;
    this.#state = {
      ...this.#state,
      ...more,
      tries: tries + 1,
      fruitless: progress ? 0 : fruitless + 1,
      best: Math.max(best, have),
    };
    await this.save();
  }

  async completed(): Promise<void> {
    this.#state = { ...this.#state, complete: true, size: this.#state.have };
    await this.save();
  }

  async save(): Promise<void> {
    const facts = { v: 1, key: keyOf(this.#source), url: this.#source.shown, boot: bootId() } as const;
    await onDisk(async () => {
      await this.#file?.datasync();
      this.#unsynced = 0;
      await writeJournal(this.dir, { ...this.#state, ...facts });
    });
  }

  /** Forgets what has arrived. Counts stay. */
  async discard(): Promise<void> {
    await onDisk(async () => {
      await this.#close();
      await rm(this.path, { force: true });
    });
    this.#state = { ...this.#state, ...empty() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }

  /** The file as the journal knows it: of the same boot all of it counts, else what was synced. */
  async #reopen(found: Journal): Promise<void> {
    const file = await open(this.path, constants.O_WRONLY | constants.O_NOFOLLOW).catch(() => undefined);
    const length = file ? (await file.stat()).size : 0;
    const have = found.boot === bootId() ? Math.min(length, found.size ?? length) : found.have;
    // Less than was synced, or the journal is of a file that is gone: nothing here can be relied on.
    if (!file || have < found.have || length < have || (found.complete && have !== found.size)) {
      await file?.close();
      await this.discard();
      return;
    }
    this.#file = file;
    // A killed process has counted nothing since it saved.
    this.#state = { ...this.#state, have, received: Math.max(found.received, have) };
  }

  async #close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  async #checkRoom(): Promise<void> {
    const { size } = this.#state;
    if (size === undefined) return;
    const { bavail, bsize } = await statfs(this.dir);
    const free = bavail * bsize;
    if (size <= free) return;
    const where = { file: this.dir, wantedBytes: size, freeBytes: free };
    throw new HgError('HG_NO_SPACE', 'there is less room than the source announces', where);
  }
}

/** Faults of the disk are told from those of the network here, where they happen: both know EIO and the like. */
async function onDisk(work: () => Promise<void>): Promise<void> {
  await work().catch((err: unknown) => {
    throw toHgError(err);
  });
}

function empty(): Pick<State, 'file' | 'have' | 'size' | 'validator' | 'complete'> {
  const file = `data.${randomUUID().slice(0, 8)}`;
  return { file, have: 0, size: undefined, validator: undefined, complete: false };
}

function keyOf({ href }: SourceUrl): string {
  return createHash('sha256').update(href).digest('hex');
}
