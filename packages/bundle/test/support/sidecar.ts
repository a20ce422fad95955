import { fixture, fixtureJson, fixtures } from '@quicksilver/testing';

/** A name as sidecars spell it: text, or hexadecimal digits where it is not UTF-8. */
export type SidecarName = string | { readonly hex: string };

export interface SidecarFile {
  readonly src: string;
  readonly name: SidecarName;
  readonly size: number;
  readonly sha256: string;
}

/** What a sidecar says about a part, as far as this package looks at it. */
export interface PartFacts {
  readonly type: string;
  readonly raw_type: string;
  readonly mandatory: boolean;
  readonly id: number;
  readonly mandatory_params: readonly (readonly [string, string])[];
  readonly advisory_params: readonly (readonly [string, string])[];
  readonly header_size: number;
  readonly payload_size: number;
  readonly payload_sha256: string;
  readonly files?: readonly SidecarFile[];
  /** Of a stream of version 3, instead of `files`. */
  readonly entries?: readonly (readonly SidecarFile[])[];
  readonly entry_count?: number;
}

export interface Sidecar {
  readonly container: {
    readonly magic: string;
    readonly compression: 'UN' | 'GZ' | 'ZS' | 'BZ';
    readonly params?: readonly (readonly [string, string])[];
  };
  readonly decompressed_body_size: number;
  readonly decompressed_body_sha256: string;
  readonly trailing_after_end?: number;
  readonly parts?: readonly PartFacts[];
  /** Of a file without parts; names as the stream spells them. */
  readonly stream1?: {
    readonly filecount: number;
    readonly bytecount: number;
    readonly requirements: string;
    readonly requirements_raw_length: number;
    readonly files: readonly Omit<SidecarFile, 'src'>[];
    readonly trailing: number;
  };
}

export interface Golden {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly sidecar: Sidecar;
}

export function goldens(folder: string, pattern: RegExp): Golden[] {
  return fixtures(folder, pattern).map(({ name }) => golden(`${folder}/${name}`));
}

function golden(path: string): Golden {
  return {
    path,
    bytes: new Uint8Array(fixture(`${path}.hg`)),
    // Facts made once by the golden tool and checked in; a wrong shape fails the comparison it is used in.
    sidecar: fixtureJson(`${path}.json`) as Sidecar,
  };
}

/** Leaves out of a part what sidecars say beyond `PartFacts` (chunk sizes, contents of changegroups). */
export function partFacts(part: PartFacts): PartFacts {
  return {
    type: part.type,
    raw_type: part.raw_type,
    mandatory: part.mandatory,
    id: part.id,
    mandatory_params: part.mandatory_params,
    advisory_params: part.advisory_params,
    header_size: part.header_size,
    payload_size: part.payload_size,
    payload_sha256: part.payload_sha256,
    ...(part.type === 'stream2' && part.files ? { files: part.files } : {}),
    ...(part.entries ? { files: part.entries.flat(), entry_count: part.entries.length } : {}),
  };
}
