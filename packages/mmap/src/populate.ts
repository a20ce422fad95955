/** How the pages of a mapping are brought in: `auto` decides by size and use. */
export type Populate = 'none' | 'eager' | 'background' | 'auto';

/** `whole`: most of the bytes, in whatever order. `sparse`: few places of many. */
export type ExpectedUse = 'whole' | 'sparse';

export type PopulateMode = Exclude<Populate, 'auto'>;

/** From here on `auto` maps; smaller files are read whole sooner than mapped. Mercurial's threshold is the same. */
export const MAP_FROM_BYTES = 1024 * 1024;

export interface PopulateQuestion {
  readonly size: number;
  readonly expectedUse: ExpectedUse;
}

export function planPopulate(wanted: Populate, { size, expectedUse }: PopulateQuestion): PopulateMode {
  if (wanted !== 'auto') return wanted;
  if (expectedUse === 'sparse') return 'none';
  return size < MAP_FROM_BYTES ? 'eager' : 'background';
}
