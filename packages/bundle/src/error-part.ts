import { HgError, printable } from '@quicksilver/hg-types';
import { ERROR_PART_PREFIX } from './known-parts.ts';
import type { PartHeader } from './part-header.ts';

export function isErrorPart(header: PartHeader): boolean {
  return header.type.startsWith(ERROR_PART_PREFIX);
}

/**
 * A writer that fails half way says so in an error part, mandatory or not, and what came before is incomplete. Which
 * kinds there are: `error:abort` (message, hint), `error:pushraced` (message), `error:unsupportedcontent` (parttype,
 * params, separated by NUL), `error:pushkey` (in-reply-to, ...). All end the reading with the writer's own words.
 */
export function errorPartFault(header: PartHeader): HgError {
  const where: Record<string, string | number> = { part: printable(header.rawType), offset: header.offset };
  for (const key of ['message', 'hint', 'parttype', 'params', 'in-reply-to']) {
    const param = header.params.get(key);
    if (param) where[key] = printable(param.value.split('\0').join(', '));
  }
  return new HgError('HG_REMOTE_ABORT', 'the writer of the bundle reports a failure', where);
}
