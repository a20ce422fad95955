/** How the pages of a mapping are brought in: `auto` decides by size and use. */
export type Populate = 'none' | 'eager' | 'background' | 'auto';

/** `whole`: most of the bytes, in whatever order. `sparse`: few places of many. */
export type ExpectedUse = 'whole' | 'sparse';

export type PopulateMode = Exclude<Populate, 'auto'>;

/** From here on `auto` maps what will be used whole; smaller files are read sooner. Mercurial's threshold is the same. */
export const MAP_FROM_BYTES = 1024 * 1024;
/** Of smaller files reading all of it costs less than mapping, also where few places are wanted. */
const MAP_SPARSE_FROM_BYTES = 64 * 1024;
/**
 * One call to the kernel brings in at most this much: a dispose waits for no more than that. A file up to here is
 * brought in whole also for few places: that costs less than their faults, and little of the page cache.
 */
export const POPULATE_WINDOW = 64 * 1024 * 1024;

export interface PopulateQuestion {
  readonly size: number;
  readonly expectedUse: ExpectedUse;
}

/** Measured: benchmarks/mmap.ts. `eager` never won by more than the noise, since its caller waits. */
export function planPopulate(wanted: Populate, { size, expectedUse }: PopulateQuestion): PopulateMode {
  if (wanted !== 'auto') return wanted;
  return expectedUse === 'sparse' && size > POPULATE_WINDOW ? 'none' : 'background';
}

/** Whether `auto` reads a file rather than mapping it: all of it at once, when the first byte is asked for. */
export function isSmall({ size, expectedUse }: PopulateQuestion): boolean {
  return size < (expectedUse === 'sparse' ? MAP_SPARSE_FROM_BYTES : MAP_FROM_BYTES);
}
