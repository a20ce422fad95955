import type { Db } from './open-database.ts';

export interface QueueSetting {
  readonly queue: string;
  /** Slots per worker process; null: the worker's own configuration. */
  readonly perWorker: number | null;
  /** Slots over all workers; null: no limit. */
  readonly global: number | null;
}

export async function queueSetting(db: Db, queue: string): Promise<QueueSetting> {
  const row = await db.selectFrom('queue_settings').selectAll().where('queue', '=', queue).executeTakeFirst();
  return { queue, perWorker: row?.per_worker ?? null, global: row?.global ?? null };
}

export async function queueSettings(db: Db): Promise<QueueSetting[]> {
  const rows = await db.selectFrom('queue_settings').selectAll().execute();
  return rows.map((row) => ({ queue: row.queue, perWorker: row.per_worker, global: row.global }));
}

export async function saveQueueSetting(db: Db, setting: QueueSetting, at: number): Promise<void> {
  const values = { per_worker: setting.perWorker, global: setting.global, updated_at: at };
  await db
    .insertInto('queue_settings')
    .values({ queue: setting.queue, ...values })
    .onConflict((conflict) => conflict.column('queue').doUpdateSet(values))
    .execute();
}
