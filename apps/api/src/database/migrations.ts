import { type Kysely, type Migration, sql } from 'kysely';

/** Steps of the schema by name. Never change one that was released: add another. */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-mirrors-and-tasks': { up: mirrorsAndTasks },
};

async function mirrorsAndTasks(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('mirrors')
    .addColumn('id', 'text', (col) => col.primaryKey())
    .addColumn('name', 'text', (col) => col.notNull().unique())
    .addColumn('volume', 'text', (col) => col.notNull())
    .addColumn('request_json', 'text')
    .addColumn('state', 'text', (col) => col.notNull())
    .addColumn('generation', 'integer')
    .addColumn('path', 'text')
    .addColumn('receipt_json', 'text')
    .addColumn('last_success', 'integer')
    .addColumn('problem_json', 'text')
    .addColumn('retired_at', 'integer')
    .addColumn('next_number', 'integer', (col) => col.notNull())
    .addColumn('created_at', 'integer', (col) => col.notNull())
    .addColumn('updated_at', 'integer', (col) => col.notNull())
    .execute();
  await db.schema
    .createTable('tasks')
    .addColumn('seq', 'integer', (col) => col.primaryKey().autoIncrement())
    .addColumn('id', 'text', (col) => col.notNull().unique())
    .addColumn('mirror_id', 'text', (col) => col.notNull().references('mirrors.id'))
    .addColumn('number', 'integer', (col) => col.notNull())
    .addColumn('action', 'text', (col) => col.notNull().check(sql`action in ('clone', 'retire')`))
    .addColumn('state', 'text', (col) => col.notNull().check(sql`state in ('wanted', 'admitted', 'settled')`))
    .addColumn('outcome', 'text', (col) =>
      col.check(sql`(state = 'settled') = (outcome is not null) and outcome in ('ready', 'failed', 'cancelled')`),
    )
    .addColumn('flow', 'integer', (col) => col.notNull().defaultTo(0))
    .addColumn('cancel_requested', 'integer', (col) => col.notNull().defaultTo(0))
    .addColumn('request_json', 'text')
    .addColumn('generation', 'integer')
    .addColumn('problem_json', 'text')
    .addColumn('progress_json', 'text')
    .addColumn('created_at', 'integer', (col) => col.notNull())
    .addColumn('admitted_at', 'integer')
    .addColumn('settled_at', 'integer')
    .addUniqueConstraint('tasks_number', ['mirror_id', 'number'])
    .execute();
  await db.schema.createIndex('tasks_outcome').on('tasks').columns(['state', 'outcome']).execute();
  await db.schema.createIndex('tasks_state').on('tasks').columns(['state', 'seq']).execute();
  // The lane, as a wall of the database itself: one admitted task per mirror.
  await sql`create unique index tasks_lane on tasks (mirror_id) where state = 'admitted'`.execute(db);
  await db.schema
    .createTable('task_events')
    .addColumn('id', 'integer', (col) => col.primaryKey().autoIncrement())
    .addColumn('task_id', 'text', (col) => col.notNull().references('tasks.id'))
    .addColumn('at', 'integer', (col) => col.notNull())
    .addColumn('type', 'text', (col) => col.notNull())
    .addColumn('detail_json', 'text', (col) => col.notNull())
    .execute();
  await db.schema.createIndex('task_events_task').on('task_events').columns(['task_id', 'id']).execute();
  await db.schema
    .createTable('queue_settings')
    .addColumn('queue', 'text', (col) => col.primaryKey())
    .addColumn('per_worker', 'integer')
    .addColumn('global', 'integer')
    .addColumn('updated_at', 'integer', (col) => col.notNull())
    .execute();
}
