/** Names and limits of a store. Layout: `hg help internals.requirements`, and what stock hg leaves on disk. */

/** Revlogs of tracked files and of tree manifests lie below these; both are five bytes, which the hashed form uses. */
export const DATA_PREFIX = 'data/';
export const META_PREFIX = 'meta/';
export const PREFIX_BYTES = 5;

/** A store path may be this long before it is replaced by its hashed form. */
export const MAX_STORE_PATH = 120;
/** In the hashed form: room for all directories, and for one. */
export const MAX_HASHED_DIRECTORIES = 68;
export const MAX_HASHED_DIRECTORY = 8;
export const HASHED_PREFIX = 'dh/';

/** Longest name taken from a stream: no working copy can hold a path that is longer. On disk it is hashed, so short. */
export const MAX_STREAM_NAME = 4096;

/** Revlogs at the root of the store. */
export const ROOT_REVLOGS: ReadonlySet<string> = new Set([
  '00changelog.i',
  '00changelog.d',
  '00manifest.i',
  '00manifest.d',
]);

/** Other files that a stream may carry at the root of the store. */
export const ROOT_FILES: ReadonlySet<string> = new Set(['phaseroots', 'obsstore', 'bookmarks']);

const CACHE_FILTERS = ['base', 'immutable', 'served', 'served.hidden', 'visible', 'visible-hidden'] as const;

/** Caches that hg copies with a clone (current and former versions); all are keyed on the tip and can be made again. */
export const CACHE_FILES: ReadonlySet<string> = new Set([
  ...['branch2', 'branch3', 'tags2'].flatMap((kind) => [kind, ...CACHE_FILTERS.map((filter) => `${kind}-${filter}`)]),
  'rbc-names-v1',
  'rbc-names-v2',
  'rbc-revs-v1',
  'rbc-revs-v2',
  'hgtagsfnodes1',
]);
