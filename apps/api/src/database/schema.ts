import type { Generated, Insertable, Selectable, Updateable } from 'kysely';

/** Times are milliseconds since the epoch; columns named `*_json` hold JSON text, parsed by the stores only. */

interface MirrorTable {
  id: string;
  name: string;
  volume: string;
  /** CloneRequest: source, level of proof, engine settings. Null for a mirror that a scan found without its source. */
  request_json: string | null;
  state: string;
  /** The generation shown, and what is known of it. */
  generation: number | null;
  path: string | null;
  receipt_json: string | null;
  last_success: number | null;
  problem_json: string | null;
  retired_at: number | null;
  /** Number of the mirror's next task: the order of its lane, rising for ever, retirement included. */
  next_number: number;
  created_at: number;
  updated_at: number;
}

interface TaskTable {
  /** Order of creation over all mirrors: paging and first-come-first-served. */
  seq: Generated<number>;
  id: string;
  mirror_id: string;
  number: number;
  action: string;
  state: string;
  outcome: string | null;
  /** k of the flow under way; 0 before admission. */
  flow: number;
  cancel_requested: number;
  /** CloneRequest as it was when the task was asked for; null for `retire`. */
  request_json: string | null;
  generation: number | null;
  problem_json: string | null;
  /** The last progress seen, kept when the task is settled. */
  progress_json: string | null;
  created_at: number;
  admitted_at: number | null;
  settled_at: number | null;
}

interface TaskEventTable {
  id: Generated<number>;
  task_id: string;
  at: number;
  type: string;
  detail_json: string;
}

/** Wanted queue settings: they live here, so that a wiped Redis gets them back. */
interface QueueSettingTable {
  queue: string;
  per_worker: number | null;
  global: number | null;
  updated_at: number;
}

export interface Schema {
  mirrors: MirrorTable;
  tasks: TaskTable;
  task_events: TaskEventTable;
  queue_settings: QueueSettingTable;
}

export type MirrorRow = Selectable<MirrorTable>;
export type MirrorUpdate = Updateable<MirrorTable>;
export type NewMirror = Insertable<MirrorTable>;
export type TaskRow = Selectable<TaskTable>;
export type NewTask = Insertable<TaskTable>;
export type TaskEventRow = Selectable<TaskEventTable>;
export type QueueSettingRow = Selectable<QueueSettingTable>;
