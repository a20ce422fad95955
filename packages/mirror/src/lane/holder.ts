import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { bootId, processStartTime } from '@quicksilver/native';
import { hasErrno } from '../durable.ts';
import { isCount, isObject } from './record.ts';

/** Who holds a lane, written into it after its lock was taken and blanked before the lock is given back. */
export interface Holder {
  readonly host: string;
  /** Boot and process namespace: a pid means the same process only to those that share both. */
  readonly realm: string;
  readonly pid: number;
  /** With the pid it names one process for good. */
  readonly startTime: number | undefined;
  /** Milliseconds since boot (the same clock for every process of a machine, never set back). */
  readonly since: number;
  readonly at: string;
}

let realm: string | undefined;

function ownRealm(): string {
  realm ??= `${bootId()} ${processNamespace()}`;
  return realm;
}

function processNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return 'unknown';
  }
}

function sinceBoot(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

export function ownHolder(): Holder {
  return {
    host: hostname(),
    realm: ownRealm(),
    pid: process.pid,
    startTime: processStartTime(process.pid),
    since: sinceBoot(),
    at: new Date().toISOString(),
  };
}

export function parseHolder(text: string): Holder | undefined {
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) return undefined;
  const { host, realm: place, pid, startTime, since, at } = value;
  if (typeof host !== 'string' || typeof place !== 'string' || typeof at !== 'string') return undefined;
  if (!isCount(pid) || !isCount(since)) return undefined;
  return { host, realm: place, pid, startTime: isCount(startTime) ? startTime : undefined, since, at };
}

/**
 * True when this very process, on this machine, has held the lane for longer than a lane is ever held by work that
 * moves: it is stopped or hangs. Never for ourselves, and never where pid and start time do not both agree.
 */
export function isFrozen(holder: Holder, lockDuration: number): boolean {
  return (
    holder.realm === ownRealm() &&
    holder.pid !== process.pid &&
    holder.startTime !== undefined &&
    processStartTime(holder.pid) === holder.startTime &&
    sinceBoot() - holder.since > lockDuration
  );
}

/** @returns false when it may not be killed by this user. */
export function killHolder(holder: Holder): boolean {
  try {
    process.kill(holder.pid, 'SIGKILL');
    return true;
  } catch (err) {
    return hasErrno(err, 'ESRCH');
  }
}
