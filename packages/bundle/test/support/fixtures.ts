import { readdirSync, readFileSync } from 'node:fs';

const ROOT = new URL('../../../testing/fixtures/', import.meta.url);

export function fixtureBytes(path: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(path, ROOT)));
}

export function fixtureNames(folder: string, pattern: RegExp): string[] {
  return readdirSync(new URL(folder, ROOT))
    .filter((name) => pattern.test(name))
    .sort()
    .map((name) => `${folder}/${name}`);
}

/** A name as sidecars spell it: text, or hexadecimal digits where it is not UTF-8. */
export type SidecarName = string | { readonly hex: string };

export interface SidecarPart {
  readonly type: string;
  readonly raw_type: string;
  readonly mandatory: boolean;
  readonly id: number;
  readonly mandatory_params: readonly (readonly [string, string])[];
  readonly advisory_params: readonly (readonly [string, string])[];
  readonly header_size: number;
  readonly payload_size: number;
  readonly payload_sha256: string;
  readonly files?: readonly { src: string; name: SidecarName; size: number; sha256: string }[];
}

export interface Sidecar {
  readonly container: { readonly magic: string; readonly compression: string; readonly params?: readonly unknown[] };
  readonly decompressed_body_size: number;
  readonly decompressed_body_sha256: string;
  readonly trailing_after_end?: number;
  readonly parts?: readonly SidecarPart[];
}

/** The facts beside `<name>.hg`. */
export function sidecar(path: string): Sidecar {
  // Facts made once by the golden tool and checked in: their shape is what the tests compare with.
  return JSON.parse(readFileSync(new URL(path.replace(/\.hg$/, '.json'), ROOT), 'utf8')) as Sidecar;
}
