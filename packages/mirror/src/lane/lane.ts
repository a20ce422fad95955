import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { HgError } from '@quicksilver/hg-types';
import { bootId, tryFlock } from '@quicksilver/native';
import { hasErrno, syncDirectory, writeFully } from '../durable.ts';
import type { Volume } from '../volume.ts';
import { decodeFrame, encodeFrame } from './frame.ts';
import { ownHolder } from './holder.ts';
import { type LockOptions, openLockFile, waitForLock, writeHolder } from './lock-file.ts';
import { decodeRecord, encodeRecord, type LaneRecord } from './record.ts';

/*
 * The file of a lane, `locks/<mirror>`. It is never renamed and never removed, so its lock is always the same lock.
 *
 *   0      slot 0   the records with an even number    } written in turn, synced: a torn write
 *   16 KiB slot 1   the records with an odd number     } leaves the record before it readable
 *   32 KiB holder   who has the lock (lock-file.ts)
 */
const SLOT_BYTES = 16_384;

/** A record without what the lane itself knows. */
export type LaneUpdate = Omit<LaneRecord, 'v' | 'mirror' | 'boot' | 'host' | 'at'>;

/** The lane of a mirror, held: nobody else changes it before it is disposed. Held briefly, never while bytes move. */
export class Lane implements AsyncDisposable {
  readonly mirror: string;
  readonly #path: string;
  readonly #file: FileHandle;
  #seq: number;
  #record: LaneRecord | undefined;

  private constructor(mirror: string, path: string, file: FileHandle, current: CurrentRecord) {
    this.mirror = mirror;
    this.#path = path;
    this.#file = file;
    this.#seq = current.seq;
    this.#record = current.record;
  }

  /** Waits for the lock, as long as it takes or until the signal. A frozen holder on this host is killed. */
  static async acquire(volume: Volume, mirror: string, options: LockOptions): Promise<Lane> {
    const file = await openLockFile(volume.paths.lane(mirror));
    try {
      await waitForLock(file, 'exclusive', options);
      return await Lane.#begin(volume, mirror, file);
    } catch (err) {
      await file.close();
      throw err;
    }
  }

  /** The lane, if nobody holds it now. */
  static async tryAcquire(volume: Volume, mirror: string): Promise<Lane | undefined> {
    const file = await openLockFile(volume.paths.lane(mirror));
    try {
      if (tryFlock(file.fd, 'exclusive')) return await Lane.#begin(volume, mirror, file);
    } catch (err) {
      await file.close();
      throw err;
    }
    await file.close();
    return undefined;
  }

  static async #begin(volume: Volume, mirror: string, file: FileHandle): Promise<Lane> {
    await takeRoom(file);
    await writeHolder(file, ownHolder());
    try {
      const path = volume.paths.lane(mirror);
      const current = await readSlots(file, path);
      if (current.record && current.record.mirror !== mirror) {
        // On a file system that folds case or normal forms two names can meet in one file.
        throw new HgError('HG_EXISTS', 'another mirror has this lane', { mirror, other: current.record.mirror });
      }
      return new Lane(mirror, path, file, current);
    } catch (err) {
      await writeHolder(file, undefined); // it must not look as if this process had held it ever since
      throw err;
    }
  }

  /** What was last recorded; undefined before the first task of a mirror. */
  get record(): LaneRecord | undefined {
    return this.#record;
  }

  /** Durable when this returns. A kill in the middle leaves the record before. */
  async write(update: LaneUpdate): Promise<LaneRecord> {
    const facts = { boot: bootId(), host: hostname(), at: new Date().toISOString() };
    const record: LaneRecord = { v: 1, mirror: this.mirror, ...update, ...facts };
    const seq = this.#seq + 1;
    const frame = encodeFrame(encodeRecord(seq, record));
    if (frame.length > SLOT_BYTES) {
      throw new HgError('HG_INTERNAL', 'the record does not fit its lane', { mirror: this.mirror });
    }
    await writeFully(this.#file, frame, (seq % 2) * SLOT_BYTES);
    await this.#file.datasync();
    if (seq === 1) await syncDirectory(dirname(this.#path));
    this.#seq = seq;
    this.#record = record;
    return record;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await writeHolder(this.#file, undefined);
    } finally {
      await this.#file.close(); // the lock goes with the descriptor
    }
  }
}

/**
 * Both slots get their blocks before the first record: on a disk that has filled up since, the end of a task can still
 * be recorded. Called under the lock; a kill in the middle leaves a shorter file, which is filled up next time.
 */
async function takeRoom(file: FileHandle): Promise<void> {
  const { size } = await file.stat();
  if (size < 2 * SLOT_BYTES) await writeFully(file, Buffer.alloc(2 * SLOT_BYTES - size), size);
}

/** The record as it stands, without the lock: for those who only look. */
export async function readLane(volume: Volume, mirror: string): Promise<LaneRecord | undefined> {
  const path = volume.paths.lane(mirror);
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY);
  } catch (err) {
    if (hasErrno(err, 'ENOENT')) return undefined;
    throw err;
  }
  await using _closing = file;
  const { record } = await readSlots(file, path);
  return record;
}

interface CurrentRecord {
  readonly seq: number;
  readonly record: LaneRecord | undefined;
}

/** The newer of the two records that are whole. A reader without the lock may meet a write: it looks again. */
async function readSlots(file: FileHandle, path: string): Promise<CurrentRecord> {
  for (let look = 0; ; look++) {
    const bytes = Buffer.alloc(2 * SLOT_BYTES);
    await file.read(bytes, 0, bytes.length, 0);
    const frames = [0, 1].map((slot) => decodeFrame(bytes.subarray(slot * SLOT_BYTES, (slot + 1) * SLOT_BYTES)));
    const whole = frames
      .flatMap((frame) => (frame.kind === 'whole' ? decodeRecord(frame.text, path) : []))
      .sort((a, b) => b.seq - a.seq);
    if (whole[0]) return whole[0];
    // One torn slot beside one that was never used: the very first record was cut short, so there is none.
    if (frames.some((frame) => frame.kind === 'empty')) return { seq: 0, record: undefined };
    if (look === 2) throw new HgError('HG_IO', 'neither copy of the record of the lane can be read', { file: path });
  }
}
