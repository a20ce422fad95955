import type { Where } from '@quicksilver/bytes';
import { HgError } from '@quicksilver/hg-types';
import { HUNK_HEADER_BYTES } from './layout.ts';

export interface PatchOptions {
  /** The result may not be longer. */
  readonly maxBytes: number;
  /** Facts for faults: file, revision. */
  readonly where: Where;
}

/**
 * Applies a delta: hunks that each replace a stretch of the base, rising and apart. Every hunk is checked against
 * both the base and the delta before a byte is copied, and the result is allocated once, at its true length.
 */
export function applyPatch(base: Uint8Array, delta: Uint8Array, options: PatchOptions): Uint8Array {
  if (delta.length === 0) return base;
  const view = new DataView(delta.buffer, delta.byteOffset, delta.byteLength);
  const text = new Uint8Array(checkHunks(base, view, options));
  let from = 0;
  let to = 0;
  for (let at = 0; at < delta.length; ) {
    const start = view.getInt32(at);
    const length = view.getInt32(at + 8);
    text.set(base.subarray(from, start), to);
    to += start - from;
    from = view.getInt32(at + 4);
    at += HUNK_HEADER_BYTES;
    text.set(delta.subarray(at, at + length), to);
    to += length;
    at += length;
  }
  text.set(base.subarray(from), to);
  return text;
}

/** The length of the result. */
function checkHunks(base: Uint8Array, delta: DataView, { maxBytes, where }: PatchOptions): number {
  const refuse = (message: string, at: number, facts: Where): never => {
    throw new HgError('HG_CORRUPT', message, { ...where, deltaOffset: at, ...facts });
  };
  let size = base.length;
  let last = 0;
  let at = 0;
  while (at < delta.byteLength) {
    const left = delta.byteLength - at - HUNK_HEADER_BYTES;
    if (left < 0) refuse('a delta ends inside the header of a hunk', at, { left: left + HUNK_HEADER_BYTES });
    const start = delta.getInt32(at);
    const end = delta.getInt32(at + 4);
    const length = delta.getInt32(at + 8);
    if (start < 0 || end < start) refuse('a hunk of a delta ends before it starts', at, { start, end });
    if (start < last) refuse('hunks of a delta overlap', at, { start, before: last });
    if (end > base.length) refuse('a hunk of a delta reaches beyond its base', at, { end, base: base.length });
    if (length < 0 || length > left) refuse('a hunk of a delta is longer than the delta', at, { length, left });
    size += length - (end - start);
    last = end;
    at += HUNK_HEADER_BYTES + length;
  }
  if (size > maxBytes) {
    throw new HgError('HG_LIMIT', 'a text is longer than the limit', { ...where, size, limit: maxBytes });
  }
  return size;
}
