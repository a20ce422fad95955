import { writeFileSync } from 'node:fs';
import { encodeStreamBundle, endMarker, type StreamFile, writePartHeader } from '@quicksilver/bundle';
import type { TmpDir } from '@quicksilver/testing';

export interface SampleEntry {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly vfsKey?: 's' | 'c';
}

/** A revlog index of version 1, inline, with general delta, that is `size` bytes long; what follows does not matter. */
export function indexBytes(size: number, fill = 0): Buffer {
  const bytes = Buffer.alloc(Math.max(4, size), fill);
  bytes.writeUInt32BE(0x0003_0001, 0);
  return bytes;
}

export interface BundleShape {
  readonly requirements?: readonly string[];
  /** Announced instead of the truth. */
  readonly fileCount?: number;
  readonly byteCount?: number;
  readonly chunkSize?: number;
  /** Whole parts before the end marker, after the stream. */
  readonly parts?: readonly Uint8Array[];
}

export function streamBundle(entries: readonly SampleEntry[], shape: BundleShape = {}): Buffer {
  const files: StreamFile[] = entries.map(({ name, bytes, vfsKey = 's' }) => ({
    vfsKey,
    name,
    size: bytes.length,
    data: bytes,
  }));
  const truth = { fileCount: files.length, byteCount: entries.reduce((sum, { bytes }) => sum + bytes.length, 0) };
  const requirements = shape.requirements ?? ['generaldelta', 'revlogv1', 'sparserevlog'];
  const pieces = [...encodeStreamBundle(files, { ...truth, requirements, chunkSize: shape.chunkSize })];
  const end = pieces.pop() ?? endMarker();
  const bundle = Buffer.concat([...pieces, ...(shape.parts ?? []), end]);
  return announce(announce(bundle, 'filecount', [truth.fileCount, shape.fileCount]), 'bytecount', [
    truth.byteCount,
    shape.byteCount,
  ]);
}

/** A part with its payload in one chunk. */
export function part(type: string, payload: Uint8Array): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(payload.length);
  const body = payload.length === 0 ? [] : [size, payload];
  return Buffer.concat([writePartHeader({ type, id: 1 }), ...body, endMarker()]);
}

export function save(dir: TmpDir, bytes: Uint8Array, name = 'bundle.hg'): string {
  const path = dir.join(name);
  writeFileSync(path, bytes);
  return path;
}

/** The stream part's header is rewritten with another number. */
function announce(bundle: Buffer, key: string, [truth, told]: [number, number | undefined]): Buffer {
  if (told === undefined || told === truth) return bundle;
  const headerSize = bundle.readInt32BE(8);
  const header = bundle.subarray(12, 12 + headerSize);
  const count = (header[12] ?? 0) + (header[13] ?? 0);
  const sizes = Array.from({ length: count }, (_, i) => [header[14 + 2 * i] ?? 0, header[15 + 2 * i] ?? 0] as const);
  let at = 14 + 2 * count;
  const params = sizes.map(([k, v]): [string, string] => {
    const name = header.toString('latin1', at, at + k);
    const value = header.toString('latin1', at + k, at + k + v);
    at += k + v;
    return [name, name === key ? String(told) : value];
  });
  const changed = writePartHeader({ type: 'STREAM2', id: 0, mandatory: params });
  return Buffer.concat([bundle.subarray(0, 8), changed, bundle.subarray(12 + headerSize)]);
}
