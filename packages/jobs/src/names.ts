/** Kinds of queue. A queue exists per kind and volume: storage affinity is the routing. */
export const JOB_KINDS = ['clone', 'close'] as const;
export type JobKind = (typeof JOB_KINDS)[number];

/** Prefix of every key that BullMQ writes. */
export const QUEUE_PREFIX = 'quicksilver';

/** `clone@main`. BullMQ refuses ':' in queue names; volume names are validated to `[a-z0-9-]`. */
export function queueName(kind: JobKind, volume: string): string {
  return `${kind}@${volume}`;
}

/** The inverse of `queueName`, or undefined when it names no queue of ours. */
export function parseQueueName(queue: string): { kind: JobKind; volume: string } | undefined {
  const match = /^([a-z-]+)@([a-z0-9][a-z0-9-]{0,62})$/.exec(queue);
  const kind = JOB_KINDS.find((known) => known === match?.[1]);
  return kind && match?.[2] ? { kind, volume: match[2] } : undefined;
}

/** Id of every node of the k-th flow of a task; the same id is used in each node's own queue. */
export function flowId(taskId: string, flow: number): string {
  return `${taskId}.${flow}`;
}

/** Plain Redis keys and channels beside BullMQ's own. Values are JSON by the schemas in `signals.ts`. */
export const REDIS_KEYS = {
  /** String, set while a task is to be cancelled; expires after a day. Processors look before they start and while they run. */
  cancel: (taskId: string) => `quicksilver:cancel:${taskId}`,
  /** Pub/sub channel: the payload is a CancelSignal. */
  cancelChannel: 'quicksilver:cancel',
  /** String, TaskOutcome: how a task was settled; expires after a day. */
  outcome: (taskId: string) => `quicksilver:outcome:${taskId}`,
  /** Pub/sub channel: the payload is a TaskOutcome. */
  outcomeChannel: 'quicksilver:outcome',
  /** String with 10 s to live, renewed every 3 s by each writer and closer: a ServiceHeartbeat. */
  heartbeat: (kind: JobKind, volume: string, instance: string) => `quicksilver:service:${kind}:${volume}:${instance}`,
  heartbeatPattern: (kind: JobKind, volume: string) => `quicksilver:service:${kind}:${volume}:*`,
  /** Hash, field = queue name, value = slots per worker process: read at start and on each message of the channel. */
  concurrency: 'quicksilver:concurrency',
  /** Pub/sub channel: the payload is a queue name whose concurrency changed. */
  concurrencyChannel: 'quicksilver:concurrency',
} as const;

/** Seconds that cancel flags and outcomes stay in Redis: longer than any task's life there. */
export const SIGNAL_TTL_SECONDS = 86_400;
export const HEARTBEAT_TTL_SECONDS = 10;
