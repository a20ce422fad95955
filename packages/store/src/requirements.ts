import { latin1Bytes } from '@quicksilver/bytes';
import { HgError, IGNORABLE_REQUIREMENTS, LOCAL_REQUIREMENTS, STREAM_REQUIREMENTS } from '@quicksilver/hg-types';
import { displayName } from './display-name.ts';
import { textLines } from './lines.ts';

const SHARE_SAFE = 'share-safe';

/** Requirements of the working copy rather than of the store: with `share-safe` they alone stay in `.hg/requires`. */
const WORKING_COPY: ReadonlySet<string> = new Set([
  SHARE_SAFE,
  'shared',
  'relshared',
  'exp-sparse',
  'dirstate-v2',
  'dirstate-tracked-key-v1',
]);

/** A `requires` file: one name per line. An empty one is a repository from before there were requirements. */
export function parseRequirements(content: Uint8Array | string): Set<string> {
  const lines = textLines(content);
  const bad = lines.findIndex((line) => !/^[A-Za-z0-9][\x20-\x7e]*$/.test(line));
  if (bad !== -1) {
    throw new HgError('HG_CORRUPT', 'a line is no requirement', {
      file: 'requires',
      line: bad + 1,
      got: displayName(lines[bad] ?? ''),
    });
  }
  return new Set(lines);
}

/** The content of a `requires` file; sorted as Mercurial writes it. */
export function encodeRequirements(names: Iterable<string>): Uint8Array {
  return latin1Bytes(
    [...new Set(names)]
      .sort()
      .map((name) => `${name}\n`)
      .join(''),
  );
}

export interface RequirementPlan {
  /** For `.hg/requires`, sorted. */
  readonly workingCopy: string[];
  /** For `.hg/store/requires`, sorted. */
  readonly store: string[];
  /** What the stream should have named and did not, in sorted order: the bytes say so. */
  readonly completed: string[];
  /** What the stream named although the receiver alone decides it. */
  readonly ignored: string[];
}

/**
 * What a repository written from a stream requires: its own layout, what the stream names, and what the bytes of the
 * stream imply (`derived`, such as `generaldelta` from the header of a revlog). Only bytes can be trusted here: a
 * store that is said to need less than it does is misread by others.
 *
 * @throws HgError HG_UNSUPPORTED naming the first requirement that is not known.
 */
export function planRequirements(streamed: readonly string[], derived: Iterable<string> = []): RequirementPlan {
  const ignored = new Set<string>();
  const store = new Set(LOCAL_REQUIREMENTS.filter((name) => !WORKING_COPY.has(name)));
  const named = new Set<string>();
  for (const name of streamed) {
    if (IGNORABLE_REQUIREMENTS.has(name)) ignored.add(name);
    else named.add(known(name));
  }
  // Every revlog that is read here is of version 1.
  const implied = new Set(['revlogv1', ...derived].map(known));
  const completed = [...implied].filter((name) => !named.has(name));
  for (const name of [...named, ...implied]) store.add(name);
  return {
    workingCopy: LOCAL_REQUIREMENTS.filter((name) => WORKING_COPY.has(name)).sort(),
    store: [...store].sort(),
    completed: completed.sort(),
    ignored: [...ignored].sort(),
  };
}

function known(name: string): string {
  if (STREAM_REQUIREMENTS.has(name)) return name;
  throw new HgError('HG_UNSUPPORTED', 'the source requires a feature that is not known here', {
    requirement: displayName(name),
  });
}

export interface RepositoryRequirements {
  /** Whether store requirements lie beside the store (`share-safe`) or all in `.hg/requires`. */
  readonly layout: 'split' | 'single';
  readonly all: ReadonlySet<string>;
}

/**
 * Reads both layouts alike. `undefined` is a file that is not there.
 *
 * @throws HgError HG_CORRUPT where a split repository lacks its second half, or a share is out of step with its source.
 */
export function joinRequirements(
  workingCopy: Uint8Array | string | undefined,
  store: Uint8Array | string | undefined,
): RepositoryRequirements {
  const own = parseRequirements(workingCopy ?? '');
  const isShare = own.has('shared') || own.has('relshared');
  if (own.has(SHARE_SAFE)) {
    if (store === undefined) {
      const fault = isShare
        ? 'the share expects its requirements in the store of its source, which keeps them elsewhere'
        : 'the store lacks its list of requirements';
      throw new HgError('HG_CORRUPT', fault, { file: 'store/requires' });
    }
    return { layout: 'split', all: new Set([...own, ...parseRequirements(store)]) };
  }
  if (isShare && store !== undefined) {
    throw new HgError('HG_CORRUPT', 'the source of the share was upgraded to share-safe, the share was not', {
      file: 'requires',
    });
  }
  // Without share-safe a second list has no meaning: stock hg does not read it either.
  return { layout: 'single', all: own };
}
