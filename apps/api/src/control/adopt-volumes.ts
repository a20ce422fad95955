import { randomUUID } from 'node:crypto';
import { faultRecord } from '@quicksilver/hg-types';
import { SourceRef } from '@quicksilver/jobs';
import { type MirrorFacts, type ReceiptSource, scanVolume, Volume } from '@quicksilver/mirror';
import { countMirrors, insertMirror, mirrorByName, updateMirror } from '../database/mirror-store.ts';
import type { Database } from '../database/open-database.ts';
import { json } from '../database/records.ts';
import type { NewMirror } from '../database/schema.ts';
import type { CloneRequest } from '../domain/clone-request.ts';
import type { Logger } from '../logger.ts';

export interface VolumePlace {
  readonly name: string;
  readonly path: string;
}

/**
 * Fills a new database from what lies on the volumes that this host sees: the receipts say what a mirror is, the lanes
 * which task number comes next. A database that knows any mirror is left alone.
 */
export async function adoptVolumes(db: Database, places: readonly VolumePlace[], logger: Logger): Promise<void> {
  if ((await countMirrors(db)) > 0) return;
  for (const place of places) {
    const volume = await openVolume(place, logger);
    if (!volume) continue;
    let adopted = 0;
    try {
      for await (const facts of scanVolume(volume)) if (await adopt(db, place.name, facts)) adopted += 1;
    } catch (err) {
      logger.error({ volume: place.name, err }, 'the volume could not be scanned to its end');
    }
    if (adopted > 0) logger.info({ volume: place.name, mirrors: adopted }, 'mirrors were found on the volume');
  }
}

async function openVolume(place: VolumePlace, logger: Logger): Promise<Volume | undefined> {
  try {
    const volume = await Volume.open(place.path);
    if (volume.name === place.name) return volume;
    logger.warn({ volume: place.name, found: volume.name }, 'the directory is a volume of another name: not scanned');
  } catch (err) {
    // Workers may well be on other hosts, or have not made it yet.
    logger.info({ volume: place.name, code: faultRecord(err).code }, 'the volume cannot be scanned from here');
  }
  return undefined;
}

/** @returns false when the name is taken, by the same name on a volume before this one */
async function adopt(db: Database, volume: string, facts: MirrorFacts): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    if (await mirrorByName(tx, facts.name)) return false;
    const row = mirrorRow(volume, facts);
    await insertMirror(tx, row);
    await updateMirror(tx, row.id, { updated_at: row.updated_at });
    return true;
  });
}

function mirrorRow(volume: string, { name, lane, receipt, generation, path }: MirrorFacts): NewMirror & { id: string } {
  const now = Date.now();
  const retired = lane?.action === 'retire' && lane.outcome?.state === 'ready';
  const published = receipt ? Date.parse(receipt.times.published) : Number.NaN;
  const seen = Math.max(lane?.task.number ?? 0, receipt?.task.number ?? 0);
  return {
    id: randomUUID(),
    name,
    volume,
    request_json: json(receipt && requestOf(receipt.source)),
    state: 'failed',
    generation: generation ?? null,
    path: path ?? null,
    receipt_json: json(receipt),
    last_success: Number.isNaN(published) ? null : published,
    problem_json: json(lane?.outcome?.problem),
    retired_at: retired ? now : null,
    next_number: seen + 1,
    created_at: now,
    updated_at: now,
  };
}

/** An address whose query was left out is not the whole address: that mirror has to be given its source again. */
function requestOf(source: ReceiptSource): CloneRequest | undefined {
  if (source.kind === 'bundle-url' && source.queryLeftOut) return undefined;
  const place = source.kind === 'bundle-url' ? { url: source.url } : { path: source.path };
  const reference = SourceRef.safeParse({ kind: source.kind, ...place });
  return reference.success ? { source: reference.data, verify: 'quick', settings: {} } : undefined;
}
