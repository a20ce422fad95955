import type { MirrorState } from '../domain/lifecycle.ts';
import { mirrorState } from '../domain/lifecycle.ts';
import { ancestorNames } from '../domain/mirror-name.ts';
import type { Db } from './open-database.ts';
import { type MirrorRecord, mirrorRecord } from './records.ts';
import type { MirrorUpdate, NewMirror } from './schema.ts';

/** Queries about mirrors. Each takes the database or the transaction it belongs to. */

export async function mirrorByName(db: Db, name: string): Promise<MirrorRecord | undefined> {
  const row = await db.selectFrom('mirrors').selectAll().where('name', '=', name).executeTakeFirst();
  return row && mirrorRecord(row);
}

export interface MirrorPage {
  readonly state: MirrorState | undefined;
  /** Names after this one. */
  readonly after: string | undefined;
  readonly limit: number;
}

/** In the order of names. Retired mirrors appear only when they are asked for. */
export async function listMirrors(db: Db, page: MirrorPage): Promise<MirrorRecord[]> {
  let query = db.selectFrom('mirrors').selectAll().orderBy('name').limit(page.limit);
  query = page.state === undefined ? query.where('state', '!=', 'retired') : query.where('state', '=', page.state);
  if (page.after !== undefined) query = query.where('name', '>', page.after);
  return (await query.execute()).map(mirrorRecord);
}

/** A mirror whose name is a path above or below `name`: as directories on the volume they would lie in each other. */
export async function overlappingName(db: Db, name: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('mirrors')
    .select('name')
    .where((eb) =>
      eb.or([
        ...ancestorNames(name).map((ancestor) => eb('name', '=', ancestor)),
        // All names that begin with `name/`: '0' is the character after '/'.
        eb.and([eb('name', '>', `${name}/`), eb('name', '<', `${name}0`)]),
      ]),
    )
    .where((eb) =>
      eb.or([
        eb('retired_at', 'is', null),
        eb.exists(
          eb
            .selectFrom('tasks')
            .select('tasks.id')
            .whereRef('tasks.mirror_id', '=', 'mirrors.id')
            .where('tasks.state', '!=', 'settled'),
        ),
      ]),
    )
    .limit(1)
    .executeTakeFirst();
  return row?.name;
}

export async function insertMirror(db: Db, mirror: NewMirror): Promise<void> {
  await db.insertInto('mirrors').values(mirror).execute();
}

/** Changes columns and brings the stored state in line with the mirror's tasks. */
export async function updateMirror(db: Db, id: string, change: MirrorUpdate): Promise<void> {
  await db.updateTable('mirrors').set(change).where('id', '=', id).execute();
  const facts = await db
    .selectFrom('mirrors')
    .select(['generation', 'retired_at'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const open = await db
    .selectFrom('tasks')
    .select('state')
    .distinct()
    .where('mirror_id', '=', id)
    .where('state', '!=', 'settled')
    .execute();
  const state = mirrorState({
    generation: facts.generation,
    retired: facts.retired_at !== null,
    open: open.map((task) => (task.state === 'admitted' ? 'admitted' : 'wanted')),
  });
  await db.updateTable('mirrors').set({ state }).where('id', '=', id).execute();
}

export async function countMirrors(db: Db): Promise<number> {
  const row = await db
    .selectFrom('mirrors')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

export async function mirrorsByState(db: Db): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('mirrors')
    .select((eb) => ['state', eb.fn.countAll<number>().as('count')])
    .groupBy('state')
    .execute();
  return new Map(rows.map((row) => [row.state, Number(row.count)]));
}
