import { HgError, printable } from '@quicksilver/hg-types';
import type { PartHeader } from './part-header.ts';

interface KnownPart {
  /** Parameters whose meaning is known, whether a writer makes them mandatory or not. */
  readonly params: readonly string[];
  /** Parameters whose names begin like this are known too. */
  readonly prefix?: string;
}

/**
 * Part types and their parameters (hg help internals.bundle2, and what stock hg 6.3 to 7.2 write). Known means that the
 * meaning is known; whether a reader acts on a part is its own matter.
 */
export const KNOWN_PARTS: ReadonlyMap<string, KnownPart> = new Map<string, KnownPart>([
  [
    'changegroup',
    {
      params: [
        'version',
        'nbchanges',
        'treemanifest',
        'targetphase',
        'delta-compression',
        'exp-sidedata',
        'exp-wanted-sidedata',
      ],
    },
  ],
  ['stream2', { params: ['bytecount', 'filecount', 'requirements', 'store-fingerprint'] }],
  ['stream3-exp', { params: ['requirements', 'store-fingerprint'] }],
  ['phase-heads', { params: [] }],
  ['bookmarks', { params: [] }],
  ['listkeys', { params: ['namespace'] }],
  ['obsmarkers', { params: [] }],
  ['hgtagsfnodes', { params: [] }],
  ['cache:rev-branch-cache', { params: [] }],
  ['output', { params: ['in-reply-to'] }],
  ['replycaps', { params: [] }],
  ['reply:changegroup', { params: ['return', 'in-reply-to'] }],
  ['reply:pushkey', { params: ['return', 'in-reply-to'] }],
  ['reply:obsmarkers', { params: ['new', 'in-reply-to'] }],
  ['pushkey', { params: ['namespace', 'key', 'old', 'new'] }],
  ['pushvars', { params: [], prefix: '' }],
  ['remote-changegroup', { params: ['url', 'size', 'digests'], prefix: 'digest:' }],
  ['check:heads', { params: [] }],
  ['check:updated-heads', { params: [] }],
  ['check:bookmarks', { params: [] }],
  ['check:phases', { params: [] }],
]);

/** `error:abort`, `error:pushraced`, `error:unsupportedcontent`, `error:pushkey` and any that may follow. */
export const ERROR_PART_PREFIX = 'error:';

/** The first mandatory parameter of a known part whose meaning is not known. */
export function unknownMandatoryParam(header: PartHeader): string | undefined {
  const known = KNOWN_PARTS.get(header.type);
  if (known === undefined) return undefined;
  for (const [key, param] of header.params) {
    if (!param.mandatory || known.params.includes(key)) continue;
    if (known.prefix === undefined || !key.startsWith(known.prefix)) return key;
  }
  return undefined;
}

/**
 * What the format asks of a reader before it looks at a payload: a part that must be understood and is not is refused
 * by name; one that need not be is skipped; a known part may be read when all its mandatory parameters are known.
 */
export function refuseUnknown(header: PartHeader): 'known' | 'skip' {
  const parameter = unknownMandatoryParam(header);
  if (KNOWN_PARTS.has(header.type) && parameter === undefined) return 'known';
  if (!header.mandatory) return 'skip';
  throw unknownFeature(header, parameter);
}

export function unknownFeature(header: PartHeader, parameter?: string): HgError {
  return new HgError('HG_UNSUPPORTED', 'the bundle needs a feature that is not known', {
    part: printable(header.rawType),
    ...(parameter === undefined ? {} : { parameter: printable(parameter) }),
    offset: header.offset,
  });
}
