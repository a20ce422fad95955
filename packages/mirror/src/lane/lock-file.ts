import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tryFlock } from '@quicksilver/native';
import { writeFully } from '../durable.ts';
import { decodeFrame, encodeFrame, FRAME_HEADER } from './frame.ts';
import { type Holder, isFrozen, killHolder, parseHolder } from './holder.ts';
import { Pauses } from './pauses.ts';

/** Behind whatever else a lock file holds: who has it alone; blank when nobody has. */
const HOLDER_AT = 32_768;
const HOLDER_BYTES = 1024;

export interface LockWait {
  readonly holder: Holder | undefined;
  /** The holder was frozen and has been killed. */
  readonly killed: boolean;
}

export interface LockOptions {
  readonly signal: AbortSignal;
  /** Milliseconds after which a holder on this host counts as frozen. */
  readonly lockDuration: number;
  /** Told when the lock is not free, and again when its holder changes or was killed. */
  readonly onWait?: ((wait: LockWait) => void) | undefined;
}

/** Made where it is missing, and never removed: a lock is the file, not its name. */
export function openLockFile(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDWR | constants.O_CREAT, 0o644);
}

/** Asks again with growing pauses, as long as it takes or until the signal. A frozen holder on this host is killed. */
export async function waitForLock(file: FileHandle, mode: 'exclusive' | 'shared', options: LockOptions): Promise<void> {
  const { signal, lockDuration, onWait } = options;
  const pauses = new Pauses();
  let told: string | undefined;
  for (;;) {
    signal.throwIfAborted();
    if (tryFlock(file.fd, mode)) return;
    const holder = await readHolder(file);
    const killed = holder !== undefined && isFrozen(holder, lockDuration) && killHolder(holder);
    const key = JSON.stringify([holder, killed]);
    if (key !== told) onWait?.({ holder, killed });
    told = key;
    await pauses.wait(signal);
  }
}

async function readHolder(file: FileHandle): Promise<Holder | undefined> {
  const bytes = Buffer.alloc(HOLDER_BYTES);
  await file.read(bytes, 0, HOLDER_BYTES, HOLDER_AT);
  const frame = decodeFrame(bytes);
  return frame.kind === 'whole' ? parseHolder(frame.text) : undefined;
}

/** Not synced: it is about processes, and those do not outlive the machine either. */
export async function writeHolder(file: FileHandle, holder: Holder | undefined): Promise<void> {
  const frame = holder ? encodeFrame(JSON.stringify(holder)) : Buffer.alloc(FRAME_HEADER);
  const area = Buffer.alloc(HOLDER_BYTES);
  frame.copy(area, 0, 0, HOLDER_BYTES);
  await writeFully(file, area, HOLDER_AT);
}
