export { ConfigError, loadConfig } from './config/load-config.ts';
export {
  commonSettings,
  dataPlaneSettings,
  directories,
  flag,
  LOG_LEVELS,
  milliseconds,
  octalMode,
  ownerIds,
  port,
  redisUrl,
  type VolumeSetting,
  volumeAccess,
  volumes,
  wholeNumber,
} from './config/settings.ts';
export type { RunOptions } from './engine/engine-child.ts';
export { EngineSlots, type EngineSlotsOptions } from './engine/engine-slots.ts';
export type { EngineRequest } from './engine/protocol.ts';
export { HealthModule } from './health/health.module.ts';
export { HealthRegistry, type HealthReport, type HealthResult, type HealthScope } from './health/health-registry.ts';
export { type LoopDelay, LoopMonitor } from './health/loop-monitor.ts';
export { createMetrics } from './health/metrics.ts';
export { volumeCheck } from './health/volume-check.ts';
export { createLogger, type Logger, loggableUrl, NestLogger } from './logger.ts';
export { createRedis, type RedisConnection, type RedisRole, redisOptions } from './redis/redis.ts';
export { type RedisFacts, RedisGuard, type RedisGuardOptions, readRedisFacts } from './redis/redis-guard.ts';
export { runService, type ServiceParts } from './service/run-service.ts';
export { installShutdown, type ShutdownOptions } from './service/shutdown.ts';
export { type RunningService, type ServiceOptions, startService } from './service/start-service.ts';
export type { ChildOutcomes, JobContext, JobHandler, TaskPayload } from './worker/job-handler.ts';
export { JobServiceModule } from './worker/job-service.module.ts';
export { JobService, type JobServiceOptions, type VolumeWork } from './worker/job-service.ts';
export { decodeProblem, encodeProblem, problemOf } from './worker/problem.ts';
