import { describe, expect, it } from '@jest/globals';
import { tmpDir } from '@quicksilver/testing';
import { sql } from 'kysely';
import { insertMirror, mirrorByName } from '../src/database/mirror-store.ts';
import { openDatabase } from '../src/database/open-database.ts';
import { openSqlite } from '../src/database/sqlite-adapter.ts';
import { admitTask, insertTask, renewFlow, settleTask, taskById } from '../src/database/task-store.ts';

const at = 1;

async function withTasks(path: string) {
  const db = await openDatabase(path);
  const row = {
    id: 'm',
    name: 'm',
    volume: 'main',
    request_json: null,
    state: 'wanted',
    next_number: 1,
    created_at: at,
    updated_at: at,
  };
  await insertMirror(db, row);
  const mirror = await mirrorByName(db, 'm');
  if (!mirror) throw new Error('missing');
  for (const id of ['t1', 't2']) await insertTask(db, mirror, { id, action: 'clone', request: null, at });
  return db;
}

describe('the database', () => {
  it('is durable, checks references, and is migrated once', async () => {
    using dir = tmpDir('quicksilver-db');
    for (let times = 0; times < 2; times += 1) {
      const db = await openDatabase(dir.join('a.db'));
      const pragma = async (name: string) =>
        (await sql.raw<Record<string, unknown>>(`pragma ${name}`).execute(db)).rows[0];
      expect(await pragma('journal_mode')).toEqual({ journal_mode: 'wal' });
      expect(await pragma('synchronous')).toEqual({ synchronous: 2 });
      expect(await pragma('foreign_keys')).toEqual({ foreign_keys: 1 });
      expect(await pragma('busy_timeout')).toEqual({ timeout: 5000 });
      await db.destroy();
    }
  });

  it('of a newer version is refused, not damaged', async () => {
    using dir = tmpDir('quicksilver-db');
    const db = await openDatabase(dir.join('a.db'));
    await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '2030-01-01')`.execute(db);
    await db.destroy();
    await expect(openDatabase(dir.join('a.db'))).rejects.toThrow('newer version');
  });

  it('holds one admitted task per mirror, whatever the program does', async () => {
    const db = await withTasks(':memory:');
    expect(await admitTask(db, 't1', at)).toBe(true);
    expect(await admitTask(db, 't1', at)).toBe(false);
    expect(await admitTask(db, 't2', at)).toBe(false);
    const forced = db.updateTable('tasks').set({ state: 'admitted' }).where('id', '=', 't2').execute();
    await expect(forced).rejects.toThrow('UNIQUE');
    await db.destroy();
  });

  it('takes each step once', async () => {
    const db = await withTasks(':memory:');
    const failed = { outcome: 'failed', at } as const;
    expect(await settleTask(db, 't1', { ...failed, from: 'admitted' })).toBe(false);
    await admitTask(db, 't1', at);
    expect(await renewFlow(db, 't1', 1)).toBe(true);
    expect(await renewFlow(db, 't1', 1)).toBe(false);
    expect(await settleTask(db, 't1', { ...failed, from: 'admitted' })).toBe(true);
    expect(await settleTask(db, 't1', { from: 'admitted', outcome: 'ready', at })).toBe(false);
    expect(await renewFlow(db, 't1', 2)).toBe(false);
    expect(await taskById(db, 't1')).toMatchObject({ state: 'settled', outcome: 'failed', flow: 2, number: 1 });
    expect(await taskById(db, 't2')).toMatchObject({ state: 'wanted', number: 2 });
    await db.destroy();
  });

  it('stores no value of a kind that it does not know', () => {
    const sqlite = openSqlite(':memory:');
    expect(sqlite.prepare('select ? as a, ? as b').all([true, undefined])).toEqual([{ a: 1, b: null }]);
    expect(() => sqlite.prepare('select ?').all([{}])).toThrow('cannot be stored');
    sqlite.close();
  });
});
