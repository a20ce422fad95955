import { isIP } from 'node:net';
import { posix } from 'node:path';
import { HgError, printable } from '@quicksilver/hg-types';
import type { SourceRef, VerifyLevel } from '@quicksilver/jobs';
import { isAddress, isPublicAddress, parseSourceUrl } from '@quicksilver/wire';
import { ApiProblem, type FieldError } from './problem.ts';

export const ROOTS_SETTING = 'QUICKSILVER_SOURCE_ROOTS';

const MAX_PATH_BYTES = 4096;
export const PRIVATE_SETTING = 'QUICKSILVER_ALLOW_PRIVATE_SOURCES';
const ALLOWED_SOURCES = ['the absolute path of a stream bundle', 'its http:// or https:// address'] as const;
/** Kinds of source that are planned: they get "not supported yet" rather than "unknown". */
const LATER_SCHEMES: ReadonlySet<string> = new Set(['ssh', 'file', 'bundle']);
export const SUPPORTED_LEVELS: readonly VerifyLevel[] = ['quick'];

export interface SourcePolicy {
  /** Directories below which local paths are taken. */
  readonly roots: readonly string[];
  /** True when this host sees a directory there; anything else, also "not on this host", is false. */
  readonly isDirectory: (path: string) => Promise<boolean>;
  /** Whether addresses may lie in private networks. */
  readonly allowPrivate: boolean;
}

/**
 * Turns the text of a request into a reference, or says why not, before anything is queued. Equal forms of a path
 * become one ("/a//b/./c" is "/a/b/c"), everything else in it is taken literally: "#", "%23", blanks.
 * Whether the path leads elsewhere through a symbolic link is checked where it is opened, by the writer.
 */
export async function acceptSource(text: string, policy: SourcePolicy, digest?: string): Promise<SourceRef> {
  if (isAddress(text)) return { ...acceptAddress(text, policy), ...(digest === undefined ? {} : { digest }) };
  if (digest !== undefined) throw refusal('HG_USAGE', 'a digest is for addresses: files are proved as they are');
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1]?.toLowerCase();
  if (scheme !== undefined) {
    // The rest of an address may hold a password: only its scheme is repeated.
    const code = LATER_SCHEMES.has(scheme) ? 'HG_NOT_YET' : 'HG_UNSUPPORTED';
    const said =
      code === 'HG_NOT_YET' ? 'sources of this kind are not supported yet' : 'this kind of source is unknown';
    throw refusal(code, `${said}: ${scheme}:`);
  }
  if (text.includes('\0')) throw refusal('HG_USAGE', 'a path cannot hold a NUL character');
  if (!text.startsWith('/')) throw refusal('HG_USAGE', 'a local path must be absolute');
  if (Buffer.byteLength(text) > MAX_PATH_BYTES) throw refusal('HG_USAGE', `a path has ${MAX_PATH_BYTES} bytes at most`);
  const path = stripSlash(posix.normalize(text));
  if (!policy.roots.some((root) => isBelow(path, stripSlash(posix.normalize(root))))) {
    const detail =
      policy.roots.length === 0
        ? `local paths are not accepted as sources, since ${ROOTS_SETTING} is not set`
        : `the path is not below a directory listed in ${ROOTS_SETTING}`;
    throw new ApiProblem('HG_POLICY', detail, {
      advice: `Set ${ROOTS_SETTING} of this service to the directories (separated by ":") that sources may come from.`,
      errors: [{ field: 'source', message: detail }],
    });
  }
  if (await policy.isDirectory(path)) {
    throw refusal('HG_NOT_YET', `a local repository as source is not supported yet: ${printable(path)} is a directory`);
  }
  return { kind: 'bundle-file', path };
}

/**
 * An address in its normal form. What a name in it leads to is checked by the writer, at every connection; only what is
 * plain already is said here.
 */
function acceptAddress(text: string, policy: SourcePolicy): SourceRef {
  let address: ReturnType<typeof parseSourceUrl>;
  try {
    address = parseSourceUrl(text);
  } catch (err) {
    throw err instanceof HgError ? refusal('HG_USAGE', err.message) : err;
  }
  if (address.auth !== undefined) {
    throw refusal('HG_USAGE', 'an address here holds no user and no password: neither database nor jobs keep secrets');
  }
  const host = new URL(address.href).hostname.replace(/^\[|\]$/g, '');
  if (!policy.allowPrivate && isIP(host) !== 0 && !isPublicAddress(host)) {
    const detail = 'the address lies in a private network';
    throw new ApiProblem('HG_POLICY', detail, {
      advice: `Set ${PRIVATE_SETTING}=1 for API and writer, if whoever may ask for mirrors may also reach that network.`,
      errors: [{ field: 'source', message: detail }],
    });
  }
  return { kind: 'bundle-url', url: address.href };
}

/** Levels that are known but not there yet are refused here, with what is allowed. */
export function acceptLevel(level: VerifyLevel): VerifyLevel {
  if (SUPPORTED_LEVELS.includes(level)) return level;
  const message = `level of proof "${level}" is not supported yet`;
  const errors: FieldError[] = [{ field: 'verify', message, allowed: SUPPORTED_LEVELS }];
  throw new ApiProblem('HG_NOT_YET', message, { errors, advice: `Ask for one of: ${SUPPORTED_LEVELS.join(', ')}.` });
}

function refusal(code: 'HG_NOT_YET' | 'HG_UNSUPPORTED' | 'HG_USAGE', message: string): ApiProblem {
  return new ApiProblem(code, message, {
    errors: [{ field: 'source', message, allowed: ALLOWED_SOURCES }],
    ...(code === 'HG_USAGE' ? { advice: `Give ${ALLOWED_SOURCES.join(', or ')}.` } : {}),
  });
}

function isBelow(path: string, root: string): boolean {
  return root === '/' || path.startsWith(`${root}/`);
}

function stripSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}
