import type { MirrorRecord, TaskEventRecord, TaskRecord } from '../database/records.ts';
import { shownSource } from '../domain/clone-request.ts';
import { shownState } from '../domain/lifecycle.ts';
import type { MirrorDetail, MirrorView, TaskDetail, TaskView } from './schemas.ts';

/** Records as clients see them. */

export function taskView(task: TaskRecord): TaskView {
  return {
    id: task.id,
    mirror: task.mirror,
    volume: task.volume,
    number: task.number,
    action: task.action,
    state: shownState(task),
    outcome: task.outcome,
    source: task.request ? shownSource(task.request.source) : null,
    generation: task.generation,
    problem: task.problem,
    createdAt: isoTime(task.createdAt),
    admittedAt: isoTimeOrNull(task.admittedAt),
    settledAt: isoTimeOrNull(task.settledAt),
  };
}

export function mirrorView(mirror: MirrorRecord): MirrorView {
  return {
    name: mirror.name,
    volume: mirror.volume,
    source: mirror.request ? shownSource(mirror.request.source) : null,
    verify: mirror.request?.verify ?? 'quick',
    settings: mirror.request?.settings ?? {},
    state: mirror.state,
    generation: mirror.generation,
    path: mirror.path,
    lastSuccess: isoTimeOrNull(mirror.lastSuccess),
    problem: mirror.problem,
    createdAt: isoTime(mirror.createdAt),
    updatedAt: isoTime(mirror.updatedAt),
  };
}

export function mirrorDetail(mirror: MirrorRecord, task: TaskRecord | undefined): MirrorDetail {
  return {
    ...mirrorView(mirror),
    receipt: mirror.receipt,
    task: task ? { id: task.id, action: task.action, state: shownState(task), outcome: task.outcome } : null,
  };
}

export function historyView(history: readonly TaskEventRecord[]): TaskDetail['history'] {
  return history.map(({ at, type, detail }) => ({ at: isoTime(at), type, detail }));
}

function isoTime(at: number): string {
  return new Date(at).toISOString();
}

function isoTimeOrNull(at: number | null): string | null {
  return at === null ? null : isoTime(at);
}
