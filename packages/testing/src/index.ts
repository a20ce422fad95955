export { bzip2 } from './bzip2.ts';
export {
  canInjectFaults,
  compileFaultLibrary,
  type FaultCount,
  type FaultRule,
  faultCounts,
  faultEnv,
} from './faults.ts';
export { type Fixture, fixture, fixtureJson, fixturePath, fixtures } from './fixtures.ts';
export type { HgSession } from './hg-session.ts';
export { type Random, seededRandom } from './random.ts';
export { HG_ENV, type HgResult, type HgRunner, type HgRunOptions, newestHg, type RealHg, realHg } from './real-hg.ts';
export { startRedis } from './redis.ts';
export type { TestRedis, TestRedisOptions } from './redis-options.ts';
export { type RepositoryFacts, repositoryFacts } from './repository-facts.ts';
export { type ServedBytes, type SourceHandler, type SourceServer, serveBytes, sourceServer } from './source-server.ts';
export { killGroup, type SpawnNodeOptions, type SpawnResult, spawnNode } from './spawn-node.ts';
export { type SyntheticBundle, type SyntheticSettings, writeSyntheticBundle } from './synthetic-bundle.ts';
export { TEST_CERTIFICATE } from './test-certificate.ts';
export { tied } from './tied.ts';
export { canMountDisk, type SmallDisk, type SmallDiskOptions, smallDisk, type TmpDir, tmpDir } from './tmp-dir.ts';
export { type TreeEntry, treeEntries, treeHash } from './tree-hash.ts';
export { type WaitOptions, waitFor } from './wait-for.ts';
