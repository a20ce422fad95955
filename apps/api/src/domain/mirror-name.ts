import { isHgErrorCode } from '@quicksilver/hg-types';
import { parseMirrorName } from '@quicksilver/mirror';
import { ApiProblem } from './problem.ts';

/** A name that becomes folders, keys and URL segments; the rules are those of the volumes. */
export function acceptName(name: string): string {
  try {
    return parseMirrorName(name);
  } catch (err) {
    if (!(err instanceof Error && 'code' in err && isHgErrorCode(err.code))) throw err;
    throw new ApiProblem('HG_USAGE', err.message, {
      errors: [{ field: 'name', message: err.message }],
      advice: 'Choose another name: one or more segments separated by "/", for example mozilla/central.',
    });
  }
}

/** `a/b/c` -> `a`, `a/b`. */
export function ancestorNames(name: string): string[] {
  const segments = name.split('/');
  return segments.slice(1).map((_, at) => segments.slice(0, at + 1).join('/'));
}
