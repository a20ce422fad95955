import type { PartHeader } from './part-header.ts';
import { readRequirements, refuseStrangers, writeRequirements } from './stream-requirements.ts';

export interface Stream3Params {
  /** What the store's bytes need of a reader; in the order of the part. */
  readonly requirements: readonly string[];
}

/** Parameters of a `stream3-exp` part: how many files and bytes will come is not among them. */
export function readStream3Params(header: PartHeader): Stream3Params {
  refuseStrangers(header);
  return { requirements: readRequirements(header) };
}

export function writeStream3Params(params: Stream3Params): [key: string, value: string][] {
  return [writeRequirements(params.requirements)];
}
