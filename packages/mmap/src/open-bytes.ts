import type { FileBytes } from './file-bytes.ts';
import { type MapOptions, MappedFile } from './mapped-file.ts';
import { OpenFile } from './open-file.ts';
import { mapRefusal, type StableBy } from './policy.ts';
import { isSmall } from './populate.ts';
import { ReadFile } from './read-file.ts';

export interface OpenBytesOptions extends Omit<MapOptions, 'stable'> {
  /** Why nobody shortens the file meanwhile. Undefined: nothing is known, so it is read. */
  readonly stable?: StableBy | undefined;
  /** How much of a file that is not mapped may be held at once. */
  readonly maxHeld?: number | undefined;
}

/** A file's bytes the best way that is allowed: mapped where the policy lets it, else read. */
export function openBytes(path: string, options: OpenBytesOptions = {}): FileBytes {
  const { populate = 'auto', expectedUse = 'whole', maxHeld } = options;
  const file = OpenFile.open(path, options);
  const small = populate === 'auto' && isSmall({ size: file.size, expectedUse });
  const mapped = small ? undefined : mapIfAllowed(file, options);
  if (mapped === undefined) return new ReadFile(file, { maxHeld, atOnce: small });
  file[Symbol.dispose]();
  return mapped;
}

function mapIfAllowed(file: OpenFile, { stable, ...options }: OpenBytesOptions): FileBytes | undefined {
  if (stable === undefined || mapRefusal(file, stable) !== undefined) return undefined;
  try {
    return MappedFile.of(file, { ...options, stable });
  } catch {
    return undefined; // out of address space or of mappings: reads need neither
  }
}
