import type { CloneData, CloseData, EngineSettings, MirrorRef, SourceRef, TaskRef, VerifyLevel } from './contracts.ts';
import { flowId, QUEUE_PREFIX, queueName } from './names.ts';

/**
 * The flow of one task, in BullMQ's shape (`FlowJob`), without depending on BullMQ.
 *
 *   close@<volume>  <task>.<k>      started however its child ended; the only place where work is settled
 *     └─ clone@<volume>  <task>.<k>   ignoreDependencyOnFailure, so that a failed or stalled-out child starts it
 */
export interface TaskFlow {
  readonly name: string;
  readonly queueName: string;
  readonly prefix: string;
  readonly data: CloneData | CloseData;
  readonly opts: Readonly<Record<string, unknown>>;
  readonly children?: readonly TaskFlow[];
}

export interface TaskRequest {
  readonly action: 'clone' | 'retire';
  readonly task: TaskRef;
  readonly mirror: MirrorRef;
  readonly volume: string;
  readonly source?: SourceRef | undefined;
  readonly verify: VerifyLevel;
  readonly settings: EngineSettings;
}

/** Finished nodes leave Redis by age (seconds): long enough for a late listener, short enough to stay small. */
const KEEP = { removeOnComplete: { age: 3600 }, removeOnFail: { age: 3600 } } as const;

export function taskFlow(request: TaskRequest): TaskFlow {
  const { task, mirror, volume, source, verify, settings } = request;
  const jobId = flowId(task.id, task.flow);
  const action = request.action === 'retire' ? 'retire' : 'publish';
  const close: TaskFlow = {
    name: 'close',
    queueName: queueName('close', volume),
    prefix: QUEUE_PREFIX,
    data: { v: 1, action, task, mirror, volume, verify, flush: settings.flush ?? true, ...(source ? { source } : {}) },
    // `close` is safe to run again at any point, so every fault of its own is tried again for a good while.
    opts: { jobId, attempts: 10, backoff: { type: 'exponential', delay: 500, jitter: 0.5 }, ...KEEP },
  };
  if (request.action === 'retire') return close;
  if (!source) throw new Error('a clone needs a source');
  const clone: TaskFlow = {
    name: 'clone',
    queueName: queueName('clone', volume),
    prefix: QUEUE_PREFIX,
    data: { v: 1, task, mirror, volume, source, settings },
    opts: {
      jobId,
      attempts: 4,
      backoff: { type: 'exponential', delay: 1000, jitter: 0.5 },
      ignoreDependencyOnFailure: true,
      ...KEEP,
    },
  };
  return { ...close, children: [clone] };
}
