import { Kysely, Migrator, SqliteDialect, type Transaction } from 'kysely';
import { MIGRATIONS } from './migrations.ts';
import type { Schema } from './schema.ts';
import { openSqlite } from './sqlite-adapter.ts';

export type Database = Kysely<Schema>;
/** What a store works on: the database or a transaction of it. */
export type Db = Kysely<Schema> | Transaction<Schema>;

/** Opens the database, making or migrating it as needed. */
export async function openDatabase(path: string): Promise<Database> {
  const database = openSqlite(path);
  const db = new Kysely<Schema>({ dialect: new SqliteDialect({ database }) });
  const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...MIGRATIONS }) } });
  const { error } = await migrator.migrateToLatest();
  if (error) {
    await db.destroy();
    throw new Error('the database cannot be brought up to date: was it written by a newer version?', { cause: error });
  }
  return db;
}
