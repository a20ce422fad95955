import { HgError } from '@quicksilver/hg-types';
import { displayName } from './display-name.ts';
import {
  CACHE_FILES,
  DATA_PREFIX,
  MAX_STREAM_NAME,
  META_PREFIX,
  PREFIX_BYTES,
  ROOT_FILES,
  ROOT_REVLOGS,
} from './layout.ts';

/** Where a streamed file goes: `s` is `.hg/store`, `c` is `.hg/cache`. */
export type VfsKey = 's' | 'c';

/**
 * What a streamed name is: a `revlog` below `data/` or `meta/` (it belongs into fncache), another file at the root
 * of the store, a cache, or one that a repository without its requirement does not keep (`drop`: read and forgotten).
 */
export type StreamNameKind = 'revlog' | 'store-root' | 'cache' | 'drop';

const DOT = 0x2e;
const SLASH = 0x2f;

/** What a byte of a tracked name asks for. */
const PLAIN = 0;
const REFUSED = 1; // no manifest can hold it: NUL, LF, CR
const LOOK = 2; // part of a disguise of `.hg`: look at the component

const BYTES = new Uint8Array(256);
BYTES[0x00] = BYTES[0x0a] = BYTES[0x0d] = REFUSED;
// `~` of 8.3 names; the first bytes of the UTF-8 forms of what HFS+ ignores.
BYTES[0x7e] = BYTES[0xe2] = BYTES[0xef] = LOOK;

/** Code points that HFS+ leaves out when it compares names, as UTF-8 with one character per byte. */
const HFS_IGNORED = /\xe2\x80[\x8c-\x8f\xaa-\xae]|\xe2\x81[\xaa-\xaf]|\xef\xbb\xbf/g;
const HG_FOLDER = /^\.hg\.?$/i;
const HG_SHORT_NAME = /^(hg|hg8b6c)~[0-9]+$/i;

/** Docket and data of persistent nodemaps, which also tree manifests may have; made again by whoever wants one. */
const NODEMAP = /^(?:00changelog|00manifest|meta\/.+\/00manifest)(?:\.n|-[0-9a-f]{1,40}\.nd)$/;
/** Files behind a docket: only formats whose requirement is refused have them. */
const DOCKET_DATA = /^(?:00changelog|00manifest)-[0-9a-f]{1,40}\.(?:idx|dat|sda)$/;

/**
 * Decides by an allow-list what a name from a stream may be (unencoded, one character per byte). Everything that a
 * repository can track passes, whatever it looks like: below `data/` only what no Mercurial can track is refused.
 *
 * @throws HgError HG_UNSAFE_NAME, or HG_UNSUPPORTED for files of store formats that are not known here.
 */
export function auditStreamName(vfsKey: VfsKey, name: string): StreamNameKind {
  if (vfsKey === 'c') {
    if (CACHE_FILES.has(name)) return 'cache';
    throw unsafe('the stream holds an unknown cache file', vfsKey, name);
  }
  if (name.startsWith(DATA_PREFIX) || name.startsWith(META_PREFIX)) {
    if (isRevlogName(name)) {
      auditTracked(name);
      return 'revlog';
    }
    if (NODEMAP.test(name)) {
      auditTracked(name);
      return 'drop';
    }
    throw unsafe('the stream holds a file below data/ or meta/ that is no revlog', vfsKey, name);
  }
  if (ROOT_REVLOGS.has(name) || ROOT_FILES.has(name)) return 'store-root';
  if (NODEMAP.test(name)) return 'drop';
  if (DOCKET_DATA.test(name)) {
    throw new HgError('HG_UNSUPPORTED', 'the stream holds a revlog of a version that is not known here', {
      name: displayName(name),
    });
  }
  throw unsafe('the stream holds a file that does not belong into a store', vfsKey, name);
}

/** `data/x.i`, `data/x.d`, and the same below `meta/`, with something between prefix and suffix. */
function isRevlogName(name: string): boolean {
  if (name.length <= PREFIX_BYTES + 2 || name.charCodeAt(name.length - 2) !== DOT) return false;
  const last = name.charCodeAt(name.length - 1);
  return last === 0x69 || last === 0x64; // i, d
}

/** One pass over the tracked path, that is the name without prefix and suffix. */
function auditTracked(name: string): void {
  if (name.length > MAX_STREAM_NAME) {
    throw new HgError('HG_LIMIT', 'the stream holds a name that is too long', {
      name: displayName(name),
      length: name.length,
      limit: MAX_STREAM_NAME,
    });
  }
  const end = name.length - 2;
  let start = PREFIX_BYTES;
  let look = false;
  for (let i = start; i <= end; i++) {
    const byte = i === end ? SLASH : name.charCodeAt(i);
    if (byte === SLASH) {
      auditComponent(name, { start, end: i, look });
      start = i + 1;
      look = false;
      continue;
    }
    const kind = BYTES[byte];
    if (kind === LOOK) look = true;
    else if (kind !== PLAIN) throw unsafe('the stream holds a name with a byte that no name can have', 's', name);
  }
}

interface Component {
  readonly start: number;
  readonly end: number;
  readonly look: boolean;
}

function auditComponent(name: string, { start, end, look }: Component): void {
  if (start === end) throw unsafe('the stream holds a name with an empty component', 's', name);
  if (!look && name.charCodeAt(start) !== DOT) return;
  const component = name.slice(start, end);
  if (component === '.' || component === '..') throw unsafe('the stream holds a name that climbs', 's', name);
  if (HG_FOLDER.test(component.replace(HFS_IGNORED, '')) || HG_SHORT_NAME.test(component)) {
    throw unsafe('the stream holds a name that is the folder of Mercurial itself', 's', name);
  }
}

function unsafe(message: string, vfsKey: VfsKey, name: string): HgError {
  return new HgError('HG_UNSAFE_NAME', message, { name: displayName(name), source: vfsKey });
}
