import { HgError } from '@quicksilver/hg-types';

/** Longest name in characters, and longest percent-encoded form in bytes (one segment of any file system). */
const MAX_NAME = 200;
const MAX_ENCODED = 255;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f\\\u2028\u2029\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/;

/**
 * Checks the name of a mirror: one or more segments, each fit to be a folder below `mirrors/`. Blanks inside, '#', '+',
 * '%' and letters of any script are fine; what could leave the folder, hide, look like an option or read like another
 * name is not.
 *
 * @returns the name, unchanged: one spelling, one mirror.
 */
export function parseMirrorName(name: string): string {
  const problem = nameProblem(name);
  if (problem) throw new HgError('HG_USAGE', `the name of a mirror ${problem}`, { name: name.slice(0, MAX_NAME) });
  return name;
}

function nameProblem(name: string): string | undefined {
  if (name.length === 0 || name.length > MAX_NAME) return `has 1 to ${MAX_NAME} characters`;
  if (!name.isWellFormed() || name.normalize('NFC') !== name)
    return 'is well-formed Unicode in its composed form (NFC)';
  if (FORBIDDEN.test(name)) return 'holds no control or direction characters and no backslash';
  for (const segment of name.split('/')) {
    if (segment === '') return 'has no empty segment';
    if (/^[.\-\s]|[.\s]$/.test(segment))
      return 'has no segment that begins with ".", "-" or blank, or ends with "." or blank';
    if (Buffer.byteLength(segment) > MAX_ENCODED) return `has segments of at most ${MAX_ENCODED} bytes`;
  }
  if (Buffer.byteLength(percentEncode(name)) > MAX_ENCODED) return `takes at most ${MAX_ENCODED} bytes percent-encoded`;
  return undefined;
}

/** A valid name as one path segment, as in URLs (`mozilla%2Fcentral`): never `.`, `..` or hidden. */
export function encodeMirrorName(name: string): string {
  return percentEncode(parseMirrorName(name));
}

/** The inverse of `encodeMirrorName`; undefined when the segment is not what that writes. */
export function decodeMirrorName(segment: string): string | undefined {
  try {
    const name = decodeURIComponent(segment);
    return nameProblem(name) === undefined && percentEncode(name) === segment ? name : undefined;
  } catch {
    return undefined;
  }
}

function percentEncode(name: string): string {
  return encodeURIComponent(name).replace(/[!'()*]/g, (ch) => `%${ch.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** True when one name would be a folder of the other: the two can't both be links below `mirrors/`. */
export function namesConflict(a: string, b: string): boolean {
  return a !== b && (a.startsWith(`${b}/`) || b.startsWith(`${a}/`));
}
