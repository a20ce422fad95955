import { type Fixture, fixtures } from '@quicksilver/testing';

export interface SidecarFile {
  readonly src: 's' | 'c';
  readonly name: SidecarName;
  readonly size: number;
  readonly sha256: string;
}

/** Names that are not UTF-8 are in hex there. */
export type SidecarName = string | { readonly hex: string };

/** What sidecars say of streams: files of a part, entries of a part (version 3), or files without parts (version 1). */
export interface StreamSidecar {
  readonly parts?: readonly {
    readonly files?: readonly SidecarFile[];
    readonly entries?: readonly (readonly SidecarFile[])[];
  }[];
  readonly stream1?: { readonly requirements: string; readonly files: readonly Omit<SidecarFile, 'src'>[] };
}

/** Streams of all versions; `fmt-clv2` needs a changelog format that is refused by name. */
export const GOOD_STREAMS: readonly Fixture[] = [
  ...fixtures('stream', /^(?!fmt-clv2).*\.(stream-v[23]|packed1)\.hg$/),
  ...fixtures('hg6', /\.(stream-v2|packed1)\.hg$/),
];

/** The files of a stream as the store means them, in the order of the stream. */
export function streamedFiles({ parts = [], stream1 }: StreamSidecar): readonly SidecarFile[] {
  const packed = stream1?.files.map((file) => ({ ...file, src: 's' as const, name: decoded(file.name) })) ?? [];
  return [...parts.flatMap(({ files, entries }) => files ?? entries?.flat() ?? []), ...packed];
}

export function storeName({ name }: { readonly name: SidecarName }): string {
  const bytes = typeof name === 'string' ? Buffer.from(name, 'utf8') : Buffer.from(name.hex, 'hex');
  return bytes.toString('latin1');
}

/** Version 1 spells directories as fncache does. */
function decoded(name: SidecarName): SidecarName {
  return typeof name === 'string' ? name.replace(/\.(hg|i|d)\.hg\//g, '.$1/') : name;
}
