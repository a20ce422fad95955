import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { syncFileSystem, tryFlock } from '@quicksilver/native';
import { writeFully } from './durable.ts';
import { Pauses } from './lane/pauses.ts';
import type { Volume } from './volume.ts';

/*
 * One flush of a volume at a time, shared by all closes that waited when it began, over all processes of a host.
 *
 * `locks/.flush` holds two counters: flushes begun and flushes done, changed only under the file's lock. Whoever comes
 * notes how many had begun; any flush with a higher number that is done began after that, and covers what was written
 * before. Holding the lock without such a flush means: it is ours to make.
 */
const BEGUN_AT = 0;
const DONE_AT = 16;
const TICKET_BYTES = 32;

export interface FlushOptions {
  readonly signal: AbortSignal;
  /** After this long behind others one flushes on one's own: sharing saves work, it is not what makes it right. */
  readonly patience: number;
  /** For tests. */
  readonly sync?: (fd: number) => Promise<void>;
}

export async function flushVolume(volume: Volume, options: FlushOptions): Promise<{ readonly shared: boolean }> {
  const { signal, patience, sync = syncFileSystem } = options;
  // Opened before anything else: a write-back that fails from now on is reported to this descriptor, even if
  // another flush hears of it first.
  await using root = await open(volume.root, constants.O_RDONLY | constants.O_DIRECTORY);
  await using ticket = await open(volume.paths.flushTicket, constants.O_RDWR | constants.O_CREAT, 0o644);
  const begunBefore = await readBegun(ticket);
  const deadline = performance.now() + patience;
  const pauses = new Pauses();
  while (!tryFlock(ticket.fd, 'exclusive')) {
    if (performance.now() > deadline) {
      await sync(root.fd);
      return { shared: false };
    }
    await pauses.wait(signal);
  }
  const now = await readTicket(ticket);
  if (now && begunBefore !== undefined && now.done > begunBefore) return { shared: true };
  const mine = Math.max(now?.begun ?? 0, begunBefore ?? 0) + 1;
  await writeCounter(ticket, BEGUN_AT, mine);
  await sync(root.fd);
  await writeCounter(ticket, DONE_AT, mine);
  return { shared: false };
}

/** Without the lock: looks again when it meets a write, and gives up (no sharing) when the file stays unreadable. */
async function readBegun(ticket: FileHandle): Promise<number | undefined> {
  for (let look = 0; look < 3; look++) {
    const counters = await readTicket(ticket);
    if (counters) return counters.begun;
  }
  return undefined;
}

async function readTicket(ticket: FileHandle): Promise<{ begun: number; done: number } | undefined> {
  const bytes = Buffer.alloc(TICKET_BYTES);
  const { bytesRead } = await ticket.read(bytes, 0, TICKET_BYTES, 0);
  if (bytesRead === 0) return { begun: 0, done: 0 };
  const begun = readCounter(bytes, BEGUN_AT);
  const done = readCounter(bytes, DONE_AT);
  return begun === undefined || done === undefined ? undefined : { begun, done };
}

/** A number and its complement: half a write does not look like a number. All zeros is the hole before the first. */
function readCounter(bytes: Buffer, at: number): number | undefined {
  const value = bytes.readBigUInt64BE(at);
  const complement = bytes.readBigUInt64BE(at + 8);
  if (value === 0n && complement === 0n) return 0;
  return value === (complement ^ 0xffff_ffff_ffff_ffffn) ? Number(value) : undefined;
}

async function writeCounter(ticket: FileHandle, at: number, count: number): Promise<void> {
  const bytes = Buffer.alloc(16);
  bytes.writeBigUInt64BE(BigInt(count), 0);
  bytes.writeBigUInt64BE(BigInt(count) ^ 0xffff_ffff_ffff_ffffn, 8);
  await writeFully(ticket, bytes, at);
}
