export { Bzip2Decompressor, type Bzip2Step } from './bzip2.ts';
export { type FileSystemFacts, fileSystemFacts, lockFileSystem, type Mount, parseMountInfo } from './file-system.ts';
export { tryFlock, unlock } from './flock.ts';
export { bootId, dieWithParent, processStartTime } from './process-facts.ts';
export { syncFileSystem } from './sync.ts';
