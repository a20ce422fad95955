export type { FileBytes } from './file-bytes.ts';
export { type MapOptions, MappedFile } from './mapped-file.ts';
export { type OpenBytesOptions, openBytes } from './open-bytes.ts';
export { isLocalMagic, MAX_MAPPED_BYTES, type MapRefusal, type StableBy } from './policy.ts';
export {
  type ExpectedUse,
  MAP_FROM_BYTES,
  POPULATE_WINDOW,
  type Populate,
  type PopulateMode,
  planPopulate,
} from './populate.ts';
export { DEFAULT_MAX_HELD } from './read-file.ts';
