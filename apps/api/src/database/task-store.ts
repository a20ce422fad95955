import type { Progress } from '@quicksilver/jobs';
import type { CloneRequest } from '../domain/clone-request.ts';
import type { TaskAction, TaskEventType, TaskOutcomeState, TaskState } from '../domain/lifecycle.ts';
import type { Db } from './open-database.ts';
import {
  eventRecord,
  type JsonObject,
  json,
  type MirrorRecord,
  type TaskEventRecord,
  type TaskJoinRow,
  type TaskRecord,
  taskRecord,
} from './records.ts';

/** Queries about tasks. Every change of state is one conditional update: who comes second changes nothing. */

function joined(db: Db) {
  return db
    .selectFrom('tasks')
    .innerJoin('mirrors', 'mirrors.id', 'tasks.mirror_id')
    .selectAll('tasks')
    .select(['mirrors.name as mirror', 'mirrors.volume as volume']);
}

const records = (rows: readonly TaskJoinRow[]): TaskRecord[] => rows.map(taskRecord);

export async function taskById(db: Db, id: string): Promise<TaskRecord | undefined> {
  const row = await joined(db).where('tasks.id', '=', id).executeTakeFirst();
  return row && taskRecord(row);
}

/** Not settled, in the order of the lane. */
export async function openTasks(db: Db, mirrorId: string): Promise<TaskRecord[]> {
  const query = joined(db).where('tasks.mirror_id', '=', mirrorId).where('tasks.state', '!=', 'settled');
  return records(await query.orderBy('tasks.number').execute());
}

/** The current task of a mirror (first of its lane), or else its last one. */
export async function currentTask(db: Db, mirrorId: string): Promise<TaskRecord | undefined> {
  const [open] = await openTasks(db, mirrorId);
  return open ?? lastTask(db, mirrorId);
}

export async function lastTask(db: Db, mirrorId: string): Promise<TaskRecord | undefined> {
  const query = joined(db).where('tasks.mirror_id', '=', mirrorId).orderBy('tasks.number', 'desc').limit(1);
  const row = await query.executeTakeFirst();
  return row && taskRecord(row);
}

export interface TaskPage {
  readonly mirror: string | undefined;
  readonly state: TaskState | undefined;
  readonly outcome: TaskOutcomeState | undefined;
  /** Tasks made before this one (`seq`). */
  readonly before: number | undefined;
  readonly limit: number;
}

/** Newest first. */
export async function listTasks(db: Db, page: TaskPage): Promise<TaskRecord[]> {
  let query = joined(db).orderBy('tasks.seq', 'desc').limit(page.limit);
  if (page.mirror !== undefined) query = query.where('mirrors.name', '=', page.mirror);
  if (page.state !== undefined) query = query.where('tasks.state', '=', page.state);
  if (page.outcome !== undefined) query = query.where('tasks.outcome', '=', page.outcome);
  if (page.before !== undefined) query = query.where('tasks.seq', '<', page.before);
  return records(await query.execute());
}

export interface NewTaskFacts {
  readonly id: string;
  readonly action: TaskAction;
  readonly request: CloneRequest | null;
  readonly at: number;
}

/** Takes the mirror's next number. The caller's transaction makes number and task one step. */
export async function insertTask(db: Db, mirror: MirrorRecord, task: NewTaskFacts): Promise<TaskRecord> {
  const taken = await db
    .updateTable('mirrors')
    .set((eb) => ({ next_number: eb('next_number', '+', 1), updated_at: task.at }))
    .where('id', '=', mirror.id)
    .returning('next_number')
    .executeTakeFirstOrThrow();
  const number = taken.next_number - 1;
  await db
    .insertInto('tasks')
    .values({
      id: task.id,
      mirror_id: mirror.id,
      number,
      action: task.action,
      state: 'wanted',
      flow: 0,
      cancel_requested: 0,
      request_json: json(task.request),
      created_at: task.at,
    })
    .execute();
  await addEvent(db, { taskId: task.id, at: task.at, type: 'created', detail: { action: task.action, number } });
  const record = await taskById(db, task.id);
  if (!record) throw new Error('a task that was just inserted is missing');
  return record;
}

/** Tasks that are not begun follow a change of what the mirror wants. */
export async function changeWantedRequests(db: Db, mirrorId: string, request: CloneRequest): Promise<void> {
  await db
    .updateTable('tasks')
    .set({ request_json: json(request) })
    .where('mirror_id', '=', mirrorId)
    .where('state', '=', 'wanted')
    .where('action', '=', 'clone')
    .execute();
}

/** Admitted tasks in the order of admission, from `after` (their `seq`) on. */
export async function admittedTasks(db: Db): Promise<TaskRecord[]> {
  return records(await joined(db).where('tasks.state', '=', 'admitted').orderBy('tasks.seq').execute());
}

export async function countAdmitted(db: Db, volume: string): Promise<number> {
  const row = await db
    .selectFrom('tasks')
    .innerJoin('mirrors', 'mirrors.id', 'tasks.mirror_id')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('tasks.state', '=', 'admitted')
    .where('mirrors.volume', '=', volume)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** Wanted tasks of a volume that are first in their lanes, oldest first. */
export async function admissible(db: Db, volume: string, limit: number): Promise<TaskRecord[]> {
  const query = joined(db)
    .where('tasks.state', '=', 'wanted')
    .where('mirrors.volume', '=', volume)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('tasks as before')
            .select('before.id')
            .whereRef('before.mirror_id', '=', 'tasks.mirror_id')
            .whereRef('before.number', '<', 'tasks.number')
            .where('before.state', '!=', 'settled'),
        ),
      ),
    );
  return records(await query.orderBy('tasks.seq').limit(limit).execute());
}

/** wanted -> admitted with the first flow's id, if the lane is still free. The unique index `tasks_lane` backs it. */
export async function admitTask(db: Db, id: string, at: number): Promise<boolean> {
  const result = await db
    .updateTable('tasks')
    .set({ state: 'admitted', flow: 1, admitted_at: at })
    .where('id', '=', id)
    .where('state', '=', 'wanted')
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('tasks as other')
            .select('other.id')
            .whereRef('other.mirror_id', '=', 'tasks.mirror_id')
            .where('other.state', '=', 'admitted'),
        ),
      ),
    )
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Flow k -> k+1 of an admitted task; false when another has done it, or the task is settled. */
export async function renewFlow(db: Db, id: string, flow: number): Promise<boolean> {
  const result = await db
    .updateTable('tasks')
    .set({ flow: flow + 1 })
    .where('id', '=', id)
    .where('state', '=', 'admitted')
    .where('flow', '=', flow)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

export async function requestCancel(db: Db, id: string): Promise<boolean> {
  const result = await db
    .updateTable('tasks')
    .set({ cancel_requested: 1 })
    .where('id', '=', id)
    .where('state', '=', 'admitted')
    .where('cancel_requested', '=', 0)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

export interface SettledFacts {
  /** The state it must be in: an outcome from the queue never settles a task that was not admitted. */
  readonly from: 'wanted' | 'admitted';
  readonly outcome: TaskOutcomeState;
  readonly generation?: number | undefined;
  readonly problem?: JsonObject | undefined;
  readonly progress?: Progress | undefined;
  readonly at: number;
}

/** To settled, once: false when it was so already. */
export async function settleTask(db: Db, id: string, facts: SettledFacts): Promise<boolean> {
  const result = await db
    .updateTable('tasks')
    .set({
      state: 'settled',
      outcome: facts.outcome,
      generation: facts.generation ?? null,
      problem_json: json(facts.problem),
      progress_json: json(facts.progress),
      settled_at: facts.at,
    })
    .where('id', '=', id)
    .where('state', '=', facts.from)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

export interface NewEvent {
  readonly taskId: string;
  readonly at: number;
  readonly type: TaskEventType;
  readonly detail?: JsonObject;
}

export async function addEvent(db: Db, event: NewEvent): Promise<void> {
  await db
    .insertInto('task_events')
    .values({
      task_id: event.taskId,
      at: event.at,
      type: event.type,
      detail_json: JSON.stringify(event.detail ?? {}),
    })
    .execute();
}

/** The newest `limit` transitions, oldest first. */
export async function taskHistory(db: Db, id: string, limit: number): Promise<TaskEventRecord[]> {
  const query = db.selectFrom('task_events').selectAll().where('task_id', '=', id).orderBy('id', 'desc').limit(limit);
  return (await query.execute()).map(eventRecord).reverse();
}

export async function tasksByState(db: Db): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('tasks')
    .select((eb) => ['state', 'outcome', eb.fn.countAll<number>().as('count')])
    .groupBy(['state', 'outcome'])
    .execute();
  return new Map(rows.map((row) => [row.outcome ?? row.state, Number(row.count)]));
}
