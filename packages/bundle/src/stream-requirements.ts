import { HgError, printable } from '@quicksilver/hg-types';
import { unknownFeature, unknownMandatoryParam } from './known-parts.ts';
import type { PartHeader } from './part-header.ts';
import { quote, unquote } from './url-quoting.ts';

const SEPARATOR = ',';

/** A comma list of names; it may be empty. */
export function splitRequirements(list: string): string[] {
  return list.split(SEPARATOR).filter((name) => name !== '');
}

/** In the order of stock hg. */
export function joinRequirements(names: readonly string[]): string {
  return [...names].sort().join(SEPARATOR);
}

/** The parameter of stream parts, which is quoted once more. */
export function readRequirements(header: PartHeader): string[] {
  return splitRequirements(unquote(requiredParam(header, 'requirements')));
}

export function writeRequirements(names: readonly string[]): [key: string, value: string] {
  return ['requirements', quote(joinRequirements(names))];
}

/** A part that is to be acted on is understood whole. */
export function refuseStrangers(header: PartHeader): void {
  const stranger = unknownMandatoryParam(header);
  if (stranger !== undefined) throw unknownFeature(header, stranger);
}

export function requiredParam(header: PartHeader, parameter: string): string {
  const param = header.params.get(parameter);
  if (param !== undefined) return param.value;
  throw new HgError('HG_CORRUPT', 'a part lacks a parameter', {
    part: printable(header.rawType),
    parameter,
    offset: header.offset,
  });
}
