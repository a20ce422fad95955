import type { TaskRequest } from '@quicksilver/jobs';
import type { TaskRecord } from '../database/records.ts';

/** What the data plane is told of a task: the same for every flow of it. */
export function taskRequest(task: TaskRecord, flow: number): TaskRequest {
  return {
    action: task.action,
    task: { id: task.id, number: task.number, flow },
    mirror: { id: task.mirrorId, name: task.mirror },
    volume: task.volume,
    source: task.request?.source,
    verify: task.request?.verify ?? 'quick',
    settings: task.request?.settings ?? {},
  };
}
