export type { Checkpoint } from './checkpoints.ts';
export { type CloneRequest, cloneToStaging, type WriteSettings } from './clone.ts';
export {
  type ChildProblem,
  type CloseContext,
  type CloseRequest,
  cancelTask,
  closeTask,
  type WrittenRecord,
} from './close.ts';
export { DEFAULT_LOCK_DURATION, type MirrorContext, type MirrorProgress } from './context.ts';
export { type CloneWrite, isWritten, type Written } from './fences.ts';
export type { FetchReceipt, FetchSettings } from './fetch.ts';
export { type JanitorOptions, type JanitorReport, runJanitor } from './janitor.ts';
export { readLane } from './lane/lane.ts';
export type { LaneOutcome, LaneRecord, StagedFault } from './lane/record.ts';
export { cloneLocal, type LocalCloneOptions, type LocalReceipt } from './local.ts';
export { decodeMirrorName, encodeMirrorName, namesConflict, parseMirrorName } from './names.ts';
export type { Settled } from './outcome.ts';
export { type Proof, type ProofContext, proveQuick } from './proof/prove.ts';
export type { Receipt, ReceiptSource } from './receipt.ts';
export { type MirrorFacts, readMirror, scanVolume } from './scan.ts';
export { type BundleFile, type BundleUrl, type CloneSource, resolveSource, sourceIdentity } from './source.ts';
export type { TaskRef } from './task-ref.ts';
export { sweepTrash } from './trash.ts';
export { ENGINE_VERSION } from './version.ts';
export { Volume } from './volume.ts';
