import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, resolve, sep } from 'node:path';
import { HgError } from '@quicksilver/hg-types';
import { parseSourceUrl } from '@quicksilver/wire';
import { hasErrno } from './durable.ts';

export interface BundleFile {
  readonly kind: 'bundle-file';
  readonly path: string;
}

export interface BundleUrl {
  readonly kind: 'bundle-url';
  /** http or https. User info in it is for a person's own command line: services take none. */
  readonly url: string;
  /** `sha256:<hex>` or `sha512:<hex>`: anything else is never applied. */
  readonly digest?: string | undefined;
}

/** Where a clone comes from. */
export type CloneSource = BundleFile | BundleUrl;

/**
 * One spelling per source, for comparing: doubled and trailing slashes and `.` go away, nothing else changes. A path
 * is a path: '#', '%23', '+' and blanks in it mean themselves. An address has the normal form of addresses.
 */
export function sourceIdentity(source: CloneSource): string {
  const place = source.kind === 'bundle-file' ? resolve(source.path) : parseSourceUrl(source.url).href;
  return `${source.kind} ${place}`;
}

/**
 * Follows every link of the path and checks that the file it ends at may be read by a service.
 *
 * @param roots directories below which sources are allowed; undefined allows all (a person's own command line).
 * @returns the resolved path, which is the one to open: what was checked is what is read.
 */
export async function resolveSource(source: BundleFile, roots: readonly string[] | undefined): Promise<string> {
  const { path } = source;
  if (path.includes('\0')) throw new HgError('HG_USAGE', 'a path holds no NUL', {});
  if (roots !== undefined && !isAbsolute(path))
    throw new HgError('HG_USAGE', 'the source is an absolute path', { path });
  const real = await resolved(path);
  if (roots !== undefined && !(await isBelow(real, roots))) {
    throw new HgError('HG_POLICY', 'the source lies outside the allowed directories (QUICKSILVER_SOURCE_ROOTS)', {
      path,
    });
  }
  const facts = await stat(real);
  if (facts.isDirectory()) throw new HgError('HG_NOT_YET', 'a directory as source is not supported yet', { path });
  if (!facts.isFile()) throw new HgError('HG_NOT_BUNDLE', 'the source is not a file', { path });
  return real;
}

async function resolved(path: string): Promise<string> {
  try {
    return await realpath(resolve(path));
  } catch (err) {
    if (!hasErrno(err, 'ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'EACCES')) throw err;
    throw new HgError('HG_NOT_FOUND', 'the source cannot be found or read', { path }, err);
  }
}

async function isBelow(real: string, roots: readonly string[]): Promise<boolean> {
  for (const root of roots) {
    const base = await realpath(root).catch(() => undefined); // a directory that is not there allows nothing
    if (base !== undefined && real.startsWith(base.endsWith(sep) ? base : `${base}${sep}`)) return true;
  }
  return false;
}
