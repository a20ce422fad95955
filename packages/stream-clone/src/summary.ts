import type { CompressionName } from '@quicksilver/codec';
import type { FaultRecord, Phase } from '@quicksilver/hg-types';

/** What a bundle file holds, as plain data. Names and parameter values are bytes, one character each. */
export interface BundleSummary {
  readonly v: 1;
  readonly path: string;
  readonly size: number;
  /** Of the whole file, when digests are asked for. */
  readonly sha256?: string;
  readonly kind: 'HG20' | 'HG10' | 'HGS1';
  readonly compression: CompressionName;
  /** Stream parameters. */
  readonly params: readonly ParamSummary[];
  /** Everything after the header, decompressed, up to the end of the bundle; of HG10, all there is. */
  readonly bodySize: number;
  /** Of the same, for HG10 when digests are asked for: it is one changegroup and has no parts. */
  readonly bodySha256?: string;
  readonly parts: readonly PartSummary[];
  /** HGS1: the file is one stream. */
  readonly stream?: StreamSummary;
  /** Bytes after the end of the bundle. */
  readonly trailing: number;
  /** What the writer of the bundle had to say. */
  readonly output: readonly string[];
  /** What is wrong with the bundle; the parts before the damage are listed. */
  readonly problem?: FaultRecord;
}

export interface ParamSummary {
  readonly name: string;
  readonly value?: string;
  readonly mandatory: boolean;
}

export interface PartSummary {
  /** Lower case. */
  readonly type: string;
  readonly rawType: string;
  readonly mandatory: boolean;
  readonly id: number;
  readonly headerSize: number;
  readonly params: readonly ParamSummary[];
  readonly payloadSize: number;
  readonly payloadSha256?: string;
  readonly stream?: StreamSummary;
  readonly bookmarks?: readonly { readonly name: string; readonly node: string | null }[];
  readonly phaseHeads?: readonly { readonly phase: Phase; readonly node: string }[];
}

export interface StreamSummary {
  readonly version: 1 | 2 | 3;
  /** Not in version 3. */
  readonly announced?: { readonly files: number; readonly bytes: number };
  /** Version 3: entries announced, each of which is the files of one revlog, or one other file. */
  readonly groups?: number;
  readonly requirements: readonly string[];
  readonly files: number;
  readonly bytes: number;
  /** When the list is asked for. */
  readonly entries?: readonly StreamedFileSummary[];
}

export interface StreamedFileSummary {
  /** `s`: the store, `c`: the cache folder. */
  readonly source: 's' | 'c';
  readonly name: string;
  readonly size: number;
  readonly sha256?: string;
}
