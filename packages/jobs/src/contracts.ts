import { z } from 'zod';

/** Names become file names and keys: validated here once, for every app. */
export const VolumeName = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'lower-case letters, digits and "-"');

const positive = z.int().positive();
const count = z.int().nonnegative();

export const VerifyLevel = z.enum(['quick', 'sample', 'full']);
export type VerifyLevel = z.infer<typeof VerifyLevel>;

/** http(s) in its normal form, as the API makes it; user info would be a credential. */
const BundleAddress = z
  .string()
  .max(8192)
  .regex(/^https?:\/\/[^/@?#\s]+\/[^\s#]*$/, 'an http(s) address without user, password and fragment');

/** Checked over the whole file before any of it is used. */
export const BundleDigest = z
  .string()
  .regex(/^(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/, 'sha256: or sha512: and the hex digits, in lower case');

/** Where a clone comes from. References only: no bytes, no credentials. */
export const SourceRef = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('bundle-file'), path: z.string().min(1).max(4096) }),
  z.strictObject({ kind: z.literal('bundle-url'), url: BundleAddress, digest: BundleDigest.optional() }),
]);
export type SourceRef = z.infer<typeof SourceRef>;

export const TaskRef = z.strictObject({
  id: z.uuid(),
  /** Rises per mirror, given by the API: the lane's order. */
  number: positive,
  /** k of the flow `<task>.<k>`. */
  flow: positive,
});
export type TaskRef = z.infer<typeof TaskRef>;

export const MirrorRef = z.strictObject({ id: z.uuid(), name: z.string().min(1).max(200) });
export type MirrorRef = z.infer<typeof MirrorRef>;

/** Engine settings of one request; what is left out is decided by the writer (and said in the receipt). */
export const EngineSettings = z.strictObject({
  writers: positive.max(64).optional(),
  /** Bytes in flight between reader and writers. */
  memoryTarget: positive.min(65_536).optional(),
  /** Closing of files by threads of their own; names and meanings are those of hg's `worker.backgroundclose*`. */
  backgroundClose: z.enum(['off', 'on', 'auto']).optional(),
  backgroundCloseMinFileCount: count.optional(),
  backgroundCloseMaxQueue: positive.max(65_536).optional(),
  backgroundCloseThreadCount: positive.max(64).optional(),
  flush: z.boolean().optional(),
});
export type EngineSettings = z.infer<typeof EngineSettings>;

export const CloneData = z.strictObject({
  v: z.literal(1),
  task: TaskRef,
  mirror: MirrorRef,
  volume: VolumeName,
  source: SourceRef,
  settings: EngineSettings,
});
export type CloneData = z.infer<typeof CloneData>;

/** What the writer leaves behind: enough for `close` to find and prove it. `write` is the engine's write receipt. */
export const CloneResult = z.strictObject({
  v: z.literal(1),
  fence: positive,
  staging: z.string(),
  write: z.record(z.string(), z.unknown()),
});
export type CloneResult = z.infer<typeof CloneResult>;

export const CloseData = z.strictObject({
  v: z.literal(1),
  action: z.enum(['publish', 'retire']),
  task: TaskRef,
  mirror: MirrorRef,
  volume: VolumeName,
  /** Absent for `retire`. */
  source: SourceRef.optional(),
  verify: VerifyLevel,
  flush: z.boolean(),
});
export type CloseData = z.infer<typeof CloseData>;

/** A failure as users see it; the shape of `faultRecord` in hg-types. */
export const Problem = z.strictObject({
  code: z.string(),
  class: z.string(),
  stage: z.string(),
  message: z.string(),
  where: z.record(z.string(), z.union([z.string(), z.number()])),
  retryable: z.boolean(),
  advice: z.string(),
});
export type Problem = z.infer<typeof Problem>;

/** How a task ended. The one truth is in the lane on the volume; this is its report to the API. */
export const TaskOutcome = z.strictObject({
  v: z.literal(1),
  taskId: z.uuid(),
  state: z.enum(['ready', 'failed', 'cancelled']),
  /** Set for a published clone. */
  generation: positive.optional(),
  path: z.string().optional(),
  receipt: z.record(z.string(), z.unknown()).optional(),
  problem: Problem.optional(),
});
export type TaskOutcome = z.infer<typeof TaskOutcome>;

export const Progress = z.strictObject({
  v: z.literal(1),
  taskId: z.uuid(),
  stage: z.enum(['plan', 'fetch', 'write', 'seal', 'prove', 'flush', 'publish']),
  files: z.strictObject({ done: count, total: count }),
  bytes: z.strictObject({ done: count, total: count }),
  /** Bytes per second over the last few seconds. */
  rate: z.number().nonnegative(),
  /** Milliseconds since the epoch. */
  at: count,
  /** For example the holder of a lock that is waited for. */
  note: z.string().max(500).optional(),
});
export type Progress = z.infer<typeof Progress>;

export const CancelSignal = z.strictObject({ v: z.literal(1), task: TaskRef, mirror: MirrorRef, volume: VolumeName });
export type CancelSignal = z.infer<typeof CancelSignal>;

export const ServiceHeartbeat = z.strictObject({
  kind: z.enum(['clone', 'close']),
  volume: VolumeName,
  instance: z.string(),
  host: z.string(),
  pid: positive,
  concurrency: positive,
  active: count,
  /** p99 and max of the event loop's delay in milliseconds since the last heartbeat. */
  loopDelay: z.strictObject({ p99: z.number(), max: z.number() }),
  at: count,
});
export type ServiceHeartbeat = z.infer<typeof ServiceHeartbeat>;
