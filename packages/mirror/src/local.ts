import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import {
  chmod,
  type FileHandle,
  lstat,
  mkdir,
  open,
  readdir,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
} from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { HgError } from '@quicksilver/hg-types';
import { syncFileSystem, tryFlock } from '@quicksilver/native';
import { applyStreamBundle } from '@quicksilver/stream-clone';
import { parseDigest, parseSourceUrl } from '@quicksilver/wire';
import type { WriteSettings } from './clone.ts';
import { type MirrorContext, type MirrorProgress, report } from './context.ts';
import { hasErrno, syncDirectory } from './durable.ts';
import type { CloneWrite } from './fences.ts';
import { type FetchedBundle, type FetchSettings, fetchBundle } from './fetch.ts';
import { type Proof, proveQuick } from './proof/prove.ts';
import { partIn } from './proof/small-files.ts';
import { type BundleUrl, type CloneSource, resolveSource } from './source.ts';

export interface LocalCloneOptions {
  readonly source: CloneSource;
  readonly dest: string;
  readonly settings: WriteSettings;
  readonly flush: boolean;
  /** For sources that are addresses; private networks are allowed: it is a person's own command. */
  readonly fetch?: Partial<FetchSettings> | undefined;
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: MirrorProgress) => void) | undefined;
  /** For tests: called between steps. */
  readonly checkpoint?: MirrorContext['checkpoint'];
}

export interface LocalReceipt {
  readonly v: 1;
  readonly path: string;
  readonly proof: Proof;
  readonly write: CloneWrite;
  readonly flushed: boolean;
  readonly warnings: readonly string[];
}

/**
 * A clone without volume and queue: staged in a hidden folder beside DEST, proved, flushed if wanted, then renamed to
 * DEST. Whatever goes wrong, DEST is whole or as it was; what a killed run left is removed by the next one.
 */
export async function cloneLocal(options: LocalCloneOptions): Promise<LocalReceipt> {
  const { source, settings, signal, checkpoint } = options;
  report(options, 'plan');
  // What can be wrong with the source is seen before anything is made.
  const given = source.kind === 'bundle-file' ? await resolveSource(source, undefined) : checkUrl(source);
  await using place = await Place.prepare(options.dest);
  await checkpoint?.('local-staged');

  const fetched = source.kind === 'bundle-url' ? await fetchBeside(place, source, options) : undefined;
  const path = fetched?.path ?? given;
  const applied = await applyStreamBundle({
    source: { kind: 'file', path },
    root: place.repository,
    ...settings,
    signal,
    onProgress: (progress) => options.onProgress?.(progress),
  });
  const write: CloneWrite = fetched
    ? { ...applied, source: { ...applied.source, path: fetched.receipt.url }, fetch: fetched.receipt }
    : applied;
  await checkpoint?.('local-written');

  report(options, 'prove');
  const proof = await proveQuick(place.repository, write, {
    signal,
    onProgress: options.onProgress,
    part: partIn(place.hidden),
    lengths: 'as-written',
  });
  await checkpoint?.('local-proved');

  if (options.flush) {
    report(options, 'flush');
    await place.flush();
  }
  await checkpoint?.('local-flushed');
  signal.throwIfAborted();
  report(options, 'publish');
  await place.show();
  await checkpoint?.('local-renamed');
  const warnings = [...write.warnings, ...proof.warnings];
  return { v: 1, path: place.dest, proof, write, flushed: options.flush, warnings };
}

/** The bundle lies in the hidden folder until that goes, when DEST is shown or the clone has failed. */
async function fetchBeside(place: Place, source: BundleUrl, options: LocalCloneOptions): Promise<FetchedBundle> {
  const spool = join(place.hidden, 'spool');
  await mkdir(spool, { mode: 0o700 });
  return fetchBundle(source, spool, { settings: { allowPrivate: true, ...options.fetch }, ctx: options });
}

function checkUrl({ url, digest }: BundleUrl): string {
  if (digest !== undefined) parseDigest(digest);
  return parseSourceUrl(url).shown;
}

/** DEST and the hidden folder beside it, which is locked for as long as its owner lives. */
class Place implements AsyncDisposable {
  readonly dest: string;
  readonly hidden: string;
  readonly repository: string;
  readonly #lock: FileHandle;
  /** The topmost parent of DEST that was made here, to be unmade on failure. */
  readonly #made: string | undefined;
  #shown = false;

  private constructor(dest: string, hidden: string, options: { lock: FileHandle; made: string | undefined }) {
    this.dest = dest;
    this.hidden = hidden;
    this.repository = join(hidden, 'repository');
    this.#lock = options.lock;
    this.#made = options.made;
  }

  static async prepare(wanted: string): Promise<Place> {
    const { dest, made } = await destination(wanted);
    await removeLeftovers(dest);
    const { hidden, lock } = await makeHidden(dest);
    const place = new Place(dest, hidden, { lock, made });
    try {
      await mkdir(place.repository);
      return place;
    } catch (err) {
      await place[Symbol.asyncDispose]();
      throw err;
    }
  }

  async flush(): Promise<void> {
    await syncFileSystem(this.#lock.fd);
  }

  async show(): Promise<void> {
    try {
      const there = await stat(this.dest).catch(() => undefined);
      if (there) await chmod(this.repository, there.mode & 0o7777); // an empty directory keeps its mode
      await rename(this.repository, this.dest);
    } catch (err) {
      if (hasErrno(err, 'ENOTEMPTY', 'EEXIST', 'ENOTDIR', 'EBUSY')) throw exists(this.dest, err);
      throw err;
    }
    this.#shown = true;
    await syncDirectory(dirname(this.dest));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.hidden, { recursive: true, force: true, maxRetries: 3, retryDelay: 20 });
    await this.#lock.close();
    if (!this.#shown && this.#made !== undefined) await removeEmptyUpTo(dirname(this.dest), this.#made);
  }
}

function exists(dest: string, cause?: unknown): HgError {
  return new HgError('HG_EXISTS', 'the destination exists and is no empty directory', { path: dest }, cause);
}

/** DEST as a real path whose parent exists, itself absent or an empty directory. */
async function destination(wanted: string): Promise<{ dest: string; made: string | undefined }> {
  const path = resolve(wanted);
  const there = await lstat(path).catch((err: unknown) => {
    if (hasErrno(err, 'ENOENT')) return undefined;
    if (hasErrno(err, 'ENOTDIR')) throw exists(path, err);
    throw err;
  });
  if (!there) {
    const made = await mkdir(dirname(path), { recursive: true });
    return { dest: join(await realpath(dirname(path)), basename(path)), made };
  }
  const dest = await realpath(path).catch((err: unknown) => {
    throw exists(path, err); // a link that leads nowhere
  });
  const entries = await readdir(dest).catch((err: unknown) => {
    if (hasErrno(err, 'ENOTDIR')) throw exists(path, err);
    throw err;
  });
  if (entries.length > 0 || dest === dirname(dest)) throw exists(path);
  return { dest, made: undefined };
}

/** `.<name>.quicksilver-<random>`; a long name is cut, so that the hidden one fits a file system. */
function hiddenPrefix(dest: string): string {
  const name = Array.from(basename(dest));
  while (Buffer.byteLength(name.join('')) > 200) name.pop();
  return `.${name.join('')}.quicksilver-`;
}

async function makeHidden(dest: string): Promise<{ hidden: string; lock: FileHandle }> {
  for (;;) {
    const hidden = join(dirname(dest), `${hiddenPrefix(dest)}${randomUUID().slice(0, 8)}`);
    await mkdir(hidden, 0o700);
    const lock = await lockFolder(hidden);
    if (lock) return { hidden, lock };
    // Another run took it for a leftover, between making and locking it: make another.
  }
}

/**
 * The lock of a hidden folder, unless somebody has it or the folder is gone. A file holds it, since not every file
 * system locks folders.
 */
async function lockFolder(path: string): Promise<FileHandle | undefined> {
  const name = join(path, 'lock');
  let lock: FileHandle;
  try {
    lock = await open(name, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
  } catch (err) {
    if (hasErrno(err, 'ENOENT', 'ENOTDIR', 'ELOOP')) return undefined;
    throw err;
  }
  if (tryFlock(lock.fd, 'exclusive') && (await isAt(name, (await lock.stat()).ino))) return lock;
  await lock.close();
  return undefined;
}

async function isAt(path: string, inode: number): Promise<boolean> {
  const there = await lstat(path).catch(() => undefined);
  return there?.ino === inode;
}

/** What runs left that were killed: their locks are free. */
async function removeLeftovers(dest: string): Promise<void> {
  const prefix = hiddenPrefix(dest);
  for (const name of await readdir(dirname(dest))) {
    if (!name.startsWith(prefix) || !/^[0-9a-f]{8}$/.test(name.slice(prefix.length))) continue;
    const path = join(dirname(dest), name);
    const lock = await lockFolder(path);
    if (!lock) continue;
    await rm(path, { recursive: true, force: true });
    await lock.close();
  }
}

async function removeEmptyUpTo(from: string, top: string): Promise<void> {
  for (let folder = from; folder.length >= top.length; folder = dirname(folder)) {
    try {
      await rmdir(folder);
    } catch {
      return; // somebody else uses it by now
    }
  }
}
