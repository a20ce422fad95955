/**
 * Requirements that a stream may carry and that this code writes correctly: they describe the bytes of the store.
 * `exp-changelog-v2` and revlog v2 are left out on purpose: a reader that does not know them shows an empty repository.
 */
export const STREAM_REQUIREMENTS: ReadonlySet<string> = new Set([
  'revlogv1',
  'generaldelta',
  'sparserevlog',
  'revlog-compression-zstd',
  'exp-compression-none',
  'exp-compression-zlib',
  'exp-compression-zstd',
  'treemanifest',
  'bookmarksinstore',
  'delta-info-revlog',
  'internal-phase',
  'internal-phase-2',
]);

/** Decided by the receiver alone, never by a stream: how names are encoded and where files of the repository lie. */
export const IGNORABLE_REQUIREMENTS: ReadonlySet<string> = new Set([
  'dotencode',
  'fncache',
  'fileindex-v1',
  'store',
  'persistent-nodemap',
  'exp-very-fragile-and-unsafe-plain-store-encoding',
  'share-safe',
  'shared',
  'relshared',
  'exp-sparse',
  'dirstate-v2',
  'dirstate-tracked-key-v1',
]);

/** What a repository written here always has of its own. */
export const LOCAL_REQUIREMENTS: readonly string[] = ['dotencode', 'fncache', 'share-safe', 'store'];
