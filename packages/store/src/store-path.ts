import { Buffer } from 'node:buffer';
import { hash } from 'node:crypto';
import { directoryEncode } from './directory-encoding.ts';
import { HASHED_PREFIX, MAX_HASHED_DIRECTORIES, MAX_HASHED_DIRECTORY, MAX_STORE_PATH, PREFIX_BYTES } from './layout.ts';

/**
 * How a store spells names on disk, by its requirements: `dotencode` (today's default), `fncache` without dotencode,
 * `store` alone, or none of them (`plain`: directory encoding only).
 */
export type PathEncoding = 'dotencode' | 'fncache' | 'store' | 'plain';

const DOT = 0x2e;
const SPACE = 0x20;
const SLASH = 0x2f;
const UNDERSCORE = 0x5f;
const TILDE = 0x7e;

/** What happens to a byte. */
const KEEP = 0;
const PREFIX = 1; // `_` before it, upper case lowered
const HEX = 2; // `~xx`

const RESERVED_INITIALS = new Set(Buffer.from('acpnl'));
const HEX_DIGITS = Buffer.from('0123456789abcdef');

/** Bytes that a file system somewhere refuses, or folds, or reads as text of some encoding. */
const FULL = new Uint8Array(256);
/** The same for the hashed form, where case is lost anyway: no `_`. */
const FOLDED = new Uint8Array(256);
for (let byte = 0; byte < 256; byte++) {
  if (byte < SPACE || byte >= TILDE || '\\:*?"<>|'.includes(String.fromCharCode(byte))) FULL[byte] = FOLDED[byte] = HEX;
  else if ((byte >= 0x41 && byte <= 0x5a) || byte === UNDERSCORE) FULL[byte] = PREFIX;
}

/**
 * Where the store keeps the file `name` (one character per byte, as `auditStreamName` accepted it), relative to
 * `.hg/store`. Most names of a real repository are spelled as they are; they take one pass and no allocation.
 */
export function encodeStorePath(name: string, encoding: PathEncoding): string {
  if (encoding === 'plain') return directoryEncode(name);
  if (name.length <= MAX_STORE_PATH && isSpelledAsIs(name)) return name;
  const path = directoryEncode(name);
  const encoded = encodeComponents(path, FULL, encoding);
  return encoding === 'store' || encoded.length <= MAX_STORE_PATH ? encoded : hashedPath(path, encoding);
}

/** True only if no rule of any encoding touches the name. */
function isSpelledAsIs(name: string): boolean {
  let start = 0;
  for (let i = 0; i < name.length; i++) {
    const byte = name.charCodeAt(i);
    if (byte === SLASH) {
      if (needsCare(name, start, i) || endsLikeRevlog(name, start, i)) return false;
      start = i + 1;
    } else if (FULL[byte] !== KEEP) {
      return false;
    }
  }
  return !needsCare(name, start, name.length);
}

/** Components that Windows or an old tool would treat in its own way. */
function needsCare(name: string, start: number, end: number): boolean {
  if (start === end) return false;
  return isDotOrSpace(name.charCodeAt(start)) || isDotOrSpace(name.charCodeAt(end - 1)) || isReserved(name, start, end);
}

function endsLikeRevlog(name: string, start: number, end: number): boolean {
  const last = name.charCodeAt(end - 1);
  if (last === 0x67) return end - start >= 3 && name.charCodeAt(end - 3) === DOT; // g, of .hg
  return (last === 0x69 || last === 0x64) && end - start >= 2 && name.charCodeAt(end - 2) === DOT; // i, d
}

function isDotOrSpace(byte: number): boolean {
  return byte === DOT || byte === SPACE;
}

/** Device names of DOS: aux con prn nul, com1-com9, lpt1-lpt9, alone or before a dot; lower case only. */
function isReserved(name: string, start: number, end: number): boolean {
  const length = end - start;
  if (length < 3 || !RESERVED_INITIALS.has(name.charCodeAt(start))) return false;
  const head = name.slice(start, start + 3);
  const endsAfter = (count: number): boolean => length === count || name.charCodeAt(start + count) === DOT;
  if (head === 'com' || head === 'lpt') {
    const digit = name.charCodeAt(start + 3);
    return length > 3 && digit >= 0x31 && digit <= 0x39 && endsAfter(4);
  }
  return (head === 'aux' || head === 'con' || head === 'prn' || head === 'nul') && endsAfter(3);
}

/** Grows, never shrinks; used only inside one synchronous call. */
let scratch = Buffer.allocUnsafe(1024);

function encodeComponents(path: string, table: Uint8Array, encoding: PathEncoding): string {
  if (scratch.length < path.length * 3) scratch = Buffer.allocUnsafe(path.length * 6);
  let length = 0;
  let start = 0;
  while (start <= path.length) {
    const slash = path.indexOf('/', start);
    const end = slash === -1 ? path.length : slash;
    length = encodeComponent(path, { start, end, table, encoding, length });
    if (slash === -1) break;
    scratch[length++] = SLASH;
    start = slash + 1;
  }
  return scratch.toString('latin1', 0, length);
}

interface Piece {
  readonly start: number;
  readonly end: number;
  readonly table: Uint8Array;
  readonly encoding: PathEncoding;
  /** How much of the scratch buffer is used. */
  readonly length: number;
}

/** Returns the new length of the scratch buffer. */
function encodeComponent(path: string, { start, end, table, encoding, length }: Piece): number {
  let first = -1;
  let last = -1;
  if (encoding !== 'store' && end > start) {
    if (encoding === 'dotencode' && isDotOrSpace(path.charCodeAt(start))) first = start;
    else if (isReserved(path, start, end)) first = start + 2;
    if (isDotOrSpace(path.charCodeAt(end - 1))) last = end - 1;
  }
  let at = length;
  for (let i = start; i < end; i++) {
    const byte = path.charCodeAt(i);
    const rule = i === first || i === last ? HEX : table[byte];
    if (rule === KEEP) {
      scratch[at++] = byte;
    } else if (rule === PREFIX) {
      scratch[at++] = UNDERSCORE;
      scratch[at++] = byte === UNDERSCORE ? byte : byte | 0x20;
    } else {
      scratch[at++] = TILDE;
      scratch[at++] = HEX_DIGITS[byte >> 4] ?? 0;
      scratch[at++] = HEX_DIGITS[byte & 15] ?? 0;
    }
  }
  return at;
}

/**
 * The short form of a long path: shortened directories, the start of the file's own name, a digest of the whole,
 * the extension. It cannot be turned back, which is why fncache exists.
 */
function hashedPath(path: string, encoding: PathEncoding): string {
  const digest = hash('sha1', Buffer.from(path, 'latin1'), 'hex');
  // Only ASCII is lowered: toLowerCase on the whole would change bytes above 0x7f as well.
  const lowered = path.slice(PREFIX_BYTES).replace(/[A-Z]+/g, (upper) => upper.toLowerCase());
  const parts = encodeComponents(lowered, FOLDED, encoding).split('/');
  const base = parts.pop() ?? '';
  const fixed = `${HASHED_PREFIX}${shortDirectories(parts)}`;
  const tail = `${digest}${extension(base)}`;
  const room = Math.max(0, MAX_STORE_PATH - fixed.length - tail.length);
  return `${fixed}${base.slice(0, room)}${tail}`;
}

function shortDirectories(parts: readonly string[]): string {
  let joined = '';
  for (const part of parts) {
    const short = part.slice(0, MAX_HASHED_DIRECTORY).replace(/[. ]$/, '_');
    // The last directory's slash is not counted.
    if (joined.length + short.length > MAX_HASHED_DIRECTORIES) break;
    joined += `${short}/`;
  }
  return joined;
}

/** From the last dot; dots at the very start of a name begin no extension. */
function extension(base: string): string {
  const dot = base.lastIndexOf('.');
  return dot > 0 && /[^.]/.test(base.slice(0, dot)) ? base.slice(dot) : '';
}
