export {
  BundleDigest,
  CancelSignal,
  CloneData,
  CloneResult,
  CloseData,
  EngineSettings,
  MirrorRef,
  Problem,
  Progress,
  ServiceHeartbeat,
  SourceRef,
  TaskOutcome,
  TaskRef,
  VerifyLevel,
  VolumeName,
} from './contracts.ts';
export { type TaskFlow, type TaskRequest, taskFlow } from './flow.ts';
export {
  flowId,
  HEARTBEAT_TTL_SECONDS,
  JOB_KINDS,
  type JobKind,
  parseQueueName,
  QUEUE_PREFIX,
  queueName,
  REDIS_KEYS,
  SIGNAL_TTL_SECONDS,
} from './names.ts';
export { type ParsedPayload, parsePayload } from './parse.ts';
export { EVENT_STREAM_MAX, PROGRESS_INTERVAL, WORKER_SETTINGS, type WorkerSettings } from './worker-settings.ts';
