import { z } from 'zod';

/** Recorded states of a task; only ever forward, and settled is final. */
export const TASK_STATES = ['wanted', 'admitted', 'settled'] as const;
export type TaskState = (typeof TASK_STATES)[number];

/** What users see: an admitted task that is to be cancelled shows `cancelling` until it is settled. */
export const SHOWN_TASK_STATES = ['wanted', 'admitted', 'cancelling', 'settled'] as const;
export type ShownTaskState = (typeof SHOWN_TASK_STATES)[number];

export const TASK_OUTCOMES = ['ready', 'failed', 'cancelled'] as const;
export type TaskOutcomeState = (typeof TASK_OUTCOMES)[number];

export const TASK_ACTIONS = ['clone', 'retire'] as const;
export type TaskAction = (typeof TASK_ACTIONS)[number];

export const MIRROR_STATES = ['wanted', 'working', 'ready', 'failed', 'behind', 'retired'] as const;
export type MirrorState = (typeof MIRROR_STATES)[number];

export const EVENT_TYPES = ['created', 'admitted', 'flow-lost', 'cancel-requested', 'settled'] as const;
export type TaskEventType = (typeof EVENT_TYPES)[number];

export const TaskStateSchema = z.enum(TASK_STATES);
export const TaskOutcomeStateSchema = z.enum(TASK_OUTCOMES);
export const TaskActionSchema = z.enum(TASK_ACTIONS);
export const MirrorStateSchema = z.enum(MIRROR_STATES);
export const TaskEventTypeSchema = z.enum(EVENT_TYPES);

export function shownState(task: { readonly state: TaskState; readonly cancelRequested: boolean }): ShownTaskState {
  return task.state === 'admitted' && task.cancelRequested ? 'cancelling' : task.state;
}

export interface MirrorFacts {
  /** The generation shown, if any. */
  readonly generation: number | null;
  readonly retired: boolean;
  /** States of the tasks that are not settled. */
  readonly open: readonly TaskState[];
}

/**
 * A mirror's state is what its tasks and its generation say; it is stored only so that lists can be filtered.
 * `working` means that a task is under way, whether or not a generation is served meanwhile (`generation` tells).
 * A mirror that serves a generation is `ready` also after a failed re-clone: then `problem` is set beside it.
 */
export function mirrorState(facts: MirrorFacts): MirrorState {
  if (facts.open.includes('admitted')) return 'working';
  if (facts.retired) return 'retired';
  if (facts.generation !== null) return 'ready';
  return facts.open.includes('wanted') ? 'wanted' : 'failed';
}
