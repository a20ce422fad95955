import { printable } from '@quicksilver/hg-types';
import { readDecimal } from './decimal.ts';
import type { PartHeader } from './part-header.ts';
import { readRequirements, refuseStrangers, requiredParam, writeRequirements } from './stream-requirements.ts';
import type { Announced } from './streamed-files.ts';

export interface Stream2Params extends Announced {
  /** What the store's bytes need of a reader; in the order of the part. */
  readonly requirements: readonly string[];
}

/** Parameters of a `stream2` part. All three are needed, but the list of requirements may be empty. */
export function readStream2Params(header: PartHeader): Stream2Params {
  refuseStrangers(header);
  return {
    fileCount: readCount(header, 'filecount'),
    byteCount: readCount(header, 'bytecount'),
    requirements: readRequirements(header),
  };
}

/** The parameters as a part header holds them, in the order of stock hg. */
export function writeStream2Params(params: Stream2Params): [key: string, value: string][] {
  return [
    ['bytecount', String(params.byteCount)],
    ['filecount', String(params.fileCount)],
    writeRequirements(params.requirements),
  ];
}

function readCount(header: PartHeader, parameter: string): number {
  return readDecimal(requiredParam(header, parameter), 'a part parameter', () => ({
    part: printable(header.rawType),
    parameter,
    offset: header.offset,
  }));
}
