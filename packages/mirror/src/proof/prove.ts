import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { HgError } from '@quicksilver/hg-types';
import { RevlogFiles } from '@quicksilver/revlog';
import { encodeStorePath, joinRequirements, parseFncache } from '@quicksilver/store';
import type { WriteReceipt } from '@quicksilver/stream-clone';
import { type MirrorProgress, report } from '../context.ts';
import { proveHistory } from './history.ts';
import { proveSideFiles } from './side-files.ts';
import { readIfThere } from './small-files.ts';
import { tallyFiles } from './written-files.ts';

/** What was checked before a repository may be shown, and what it was found to be. */
export interface Proof {
  readonly level: 'quick';
  readonly changesets: number;
  readonly manifests: number;
  readonly heads: {
    readonly count: number;
    /** Hex; the first ones in revision order, at most `MAX_LISTED_HEADS`. */
    readonly nodes: readonly string[];
    /** SHA-256 over all of them, sorted, one per line: equal in two repositories with the same heads. */
    readonly digest: string;
  };
  readonly files: { readonly count: number; readonly bytes: number };
  readonly digests: Readonly<Record<string, string>>;
  readonly bookmarks: number;
  readonly checks: readonly string[];
  readonly warnings: readonly string[];
}

const MAX_LISTED_HEADS = 1000;

export interface ProofContext {
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: MirrorProgress) => void) | undefined;
  /** Names for files that are on their way into the repository; outside of it, on the same file system. */
  readonly part: () => string;
  /**
   * `on-disk` unless given. `as-written`: the files were written by this very process, which added up what every write
   * took, into a folder that nobody else knows; then their names are looked at and their lengths are not asked again.
   */
  readonly lengths?: 'on-disk' | 'as-written' | undefined;
}

/**
 * Proof level `quick`: everything is there with its length, both indexes hold together, every changeset hashes to its
 * node and has its manifest, every head can be read. Also brings what came beside the stream into the repository,
 * bookmarks and phases, since only now it is known which nodes exist. Safe to run again.
 *
 * @throws HgError: nothing that fails here may be shown.
 */
export async function proveQuick(root: string, write: WriteReceipt, ctx: ProofContext): Promise<Proof> {
  const store = join(root, '.hg', 'store');
  const files = await proveFiles(root, write, ctx);
  // A staging folder is the task's own, and its files are never shortened: what is in the way is unlinked.
  using changelog = RevlogFiles.open(store, '00changelog', { stable: 'staging' });
  using manifest = RevlogFiles.open(store, '00manifest', { stable: 'staging', dataUse: 'sparse' });
  const onChangeset = (done: number, total: number): void =>
    ctx.onProgress?.({ stage: 'prove', files: { done, total }, bytes: { done: files.bytes, total: files.bytes } });
  const history = await proveHistory(changelog, manifest, { signal: ctx.signal, onChangeset });
  await proveRequirements(root, write, history.requirements);
  const side = await proveSideFiles(root, { write, index: changelog.index, part: ctx.part });
  return {
    level: 'quick',
    changesets: history.changesets,
    manifests: history.manifests,
    heads: {
      count: history.heads.length,
      nodes: history.heads.slice(0, MAX_LISTED_HEADS),
      digest: createHash('sha256').update(history.heads.toSorted().join('\n')).digest('hex'),
    },
    files,
    digests: history.digests,
    bookmarks: side.bookmarks,
    checks: [ctx.lengths === 'as-written' ? LENGTHS_WRITTEN : LENGTHS_ON_DISK, ...CHECKS],
    warnings: side.warnings,
  };
}

const LENGTHS_ON_DISK = 'number of files and total of bytes on disk equal what was written';
const LENGTHS_WRITTEN = 'number of files on disk equals what was written; each has the length that was announced';
const CHECKS = [
  'every file that fncache lists is there, and no other',
  'requirements equal what was written and cover what the revlogs need',
  'changelog and manifest indexes: offsets, lengths, bases, parents, links, first byte of every chunk',
  'every changeset hashes to its node and its manifest is there',
  'every head can be read',
  'phases and bookmarks can be read and name changesets of this repository',
];

/** Files that are made here, not streamed. */
const OWN_STORE_FILES = ['requires', 'fncache'];

async function proveFiles(root: string, write: WriteReceipt, ctx: ProofContext): Promise<Proof['files']> {
  const hg = join(root, '.hg');
  const onFile = (done: number): void =>
    report(ctx, 'prove', { files: { done, total: write.files }, bytes: { done: 0, total: write.bytes } });
  const { signal } = ctx;
  const changing = filesChangedByParts(write);
  const lengths = ctx.lengths !== 'as-written';
  const store = await tallyFiles(join(hg, 'store'), {
    signal,
    skip: new Set([...OWN_STORE_FILES, ...changing]),
    lengths,
    onFile,
  });
  const found = { count: store.files, bytes: lengths ? store.bytes : write.bytes };
  const missing = write.files - found.count;
  const exact = missing === 0 && found.bytes === write.bytes;
  if (!exact && !(missing >= 0 && missing <= changing.size && found.bytes <= write.bytes && changing.size > 0)) {
    throw new HgError('HG_UNPROVED', 'the files on disk are not what was written', {
      files: found.count,
      expectedFiles: write.files,
      bytes: found.bytes,
      expectedBytes: write.bytes,
    });
  }
  await proveFncache(join(hg, 'store'), store.listed);
  return found;
}

/** Streamed files that a part beside the stream may change here: a second run finds other lengths than were written. */
function filesChangedByParts(write: WriteReceipt): ReadonlySet<string> {
  const bookmarks = write.bookmarks.length > 0 && write.requirements.includes('bookmarksinstore');
  return new Set([...(write.phaseHeads.length > 0 ? ['phaseroots'] : []), ...(bookmarks ? ['bookmarks'] : [])]);
}

async function proveFncache(store: string, listed: ReadonlySet<string>): Promise<void> {
  const names = parseFncache((await readIfThere(join(store, 'fncache'))) ?? new Uint8Array(0));
  for (const name of names) {
    const path = encodeStorePath(name, 'dotencode');
    if (!listed.has(path)) throw new HgError('HG_UNPROVED', 'a file of the store is missing', { file: path });
  }
  if (new Set(names).size !== listed.size) {
    throw new HgError('HG_UNPROVED', 'the store holds files that fncache does not list', {
      files: listed.size,
      listed: names.length,
    });
  }
}

async function proveRequirements(root: string, write: WriteReceipt, needed: ReadonlySet<string>): Promise<void> {
  const hg = join(root, '.hg');
  const { all } = joinRequirements(
    await readIfThere(join(hg, 'requires')),
    await readIfThere(join(hg, 'store', 'requires')),
  );
  const missing = [...write.requirements, ...needed].filter((name) => !all.has(name));
  if (missing.length > 0) {
    throw new HgError('HG_UNPROVED', 'the repository does not name all that it requires', {
      missing: missing.join(' '),
    });
  }
}
