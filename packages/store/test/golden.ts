import { Buffer } from 'node:buffer';
import { fixtureJson } from '@quicksilver/testing';
import { directoryDecode, encodeStorePath, type PathEncoding } from '../src/index.ts';

/** JSON of a golden file, narrowed by hand: these files are ours. */
export function golden<T>(relative: string, looksRight: (json: unknown) => json is T): T {
  const json = fixtureJson(relative);
  if (!looksRight(json)) throw new Error(`${relative} has another shape than this test expects`);
  return json;
}

export function isRecord(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

export interface Layout {
  readonly hg_dir: readonly { readonly path: string; readonly size: number }[];
  readonly fncache?: readonly (string | { readonly hex: string })[];
  readonly requires: string;
  readonly 'store/requires'?: string;
}

export function isLayout(json: unknown): json is Layout {
  return isRecord(json) && Array.isArray(json.hg_dir) && typeof json.requires === 'string';
}

/** A line of a golden fncache (UTF-8 text, or hex where it is none) as one character per byte. */
export function binaryLine(line: string | { readonly hex: string }): string {
  return (typeof line === 'string' ? Buffer.from(line) : Buffer.from(line.hex, 'hex')).toString('latin1');
}

/** Where each line of an fncache must lie below `.hg/store`. */
export function storePaths(lines: readonly string[], encoding: PathEncoding): string[] {
  return lines.map((line) => encodeStorePath(directoryDecode(line), encoding)).sort();
}
