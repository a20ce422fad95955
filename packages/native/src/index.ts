export { Bzip2Decompressor, type Bzip2Step } from './bzip2.ts';
export { type FileSystemFacts, fileSystemFacts, lockFileSystem, type Mount, parseMountInfo } from './file-system.ts';
export { tryFlock, unlock } from './flock.ts';
export {
  adviseRegion,
  adviseRegionAsync,
  canMapFiles,
  type MapAdvice,
  type MapRegion,
  mapFile,
  type RegionPart,
  unmapRegion,
} from './memory-map.ts';
export { bootId, dieWithParent, processStartTime } from './process-facts.ts';
export { syncFileSystem } from './sync.ts';
