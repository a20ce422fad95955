import { HgError, printable } from '@quicksilver/hg-types';
import { unknownFeature, unknownMandatoryParam } from './known-parts.ts';
import type { PartHeader } from './part-header.ts';
import { quote, unquote } from './url-quoting.ts';

export interface Stream2Params {
  readonly fileCount: number;
  /** Sum of all file sizes. */
  readonly byteCount: number;
  /** What the store's bytes need of a reader; in the order of the part. */
  readonly requirements: readonly string[];
}

/** Parameters of a `stream2` part. All three are needed, but the list of requirements may be empty. */
export function readStream2Params(header: PartHeader): Stream2Params {
  const stranger = unknownMandatoryParam(header);
  if (stranger !== undefined) throw unknownFeature(header, stranger);
  return {
    fileCount: readCount(header, 'filecount'),
    byteCount: readCount(header, 'bytecount'),
    requirements: unquote(required(header, 'requirements'))
      .split(',')
      .filter((name) => name !== ''),
  };
}

/** The parameters as a part header holds them, in the order of stock hg. */
export function writeStream2Params(params: Stream2Params): [key: string, value: string][] {
  return [
    ['bytecount', String(params.byteCount)],
    ['filecount', String(params.fileCount)],
    ['requirements', quote([...params.requirements].sort().join(','))],
  ];
}

function readCount(header: PartHeader, parameter: string): number {
  const text = required(header, parameter);
  const where = { part: printable(header.rawType), parameter, value: printable(text), offset: header.offset };
  if (!/^[0-9]+$/.test(text)) throw new HgError('HG_CORRUPT', 'a part parameter is not a number', where);
  const value = Number(text);
  if (value > Number.MAX_SAFE_INTEGER) throw new HgError('HG_LIMIT', 'a part parameter is too large', where);
  return value;
}

function required(header: PartHeader, parameter: string): string {
  const param = header.params.get(parameter);
  if (param !== undefined) return param.value;
  throw new HgError('HG_CORRUPT', 'a part lacks a parameter', {
    part: printable(header.rawType),
    parameter,
    offset: header.offset,
  });
}
