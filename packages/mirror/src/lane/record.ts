import { type FaultRecord, HgError } from '@quicksilver/hg-types';
import type { TaskRef } from '../task-ref.ts';

/** A failure with the stage in which it happened. */
export type StagedFault = FaultRecord & { readonly stage: string };

/** How a task ended, as the lane remembers it. A `ready` clone has a generation; a `ready` retire has none. */
export interface LaneOutcome {
  readonly state: 'ready' | 'failed' | 'cancelled';
  readonly generation?: number | undefined;
  readonly problem?: StagedFault | undefined;
}

/**
 *   writing --seal--> sealed --settle--> settled
 *      \_________________settle (failed, cancelled)_/     then: the next task's writing
 *
 * `fence` rises with every attempt of every task; only the attempt that holds the latest one may seal.
 */
export interface LaneRecord {
  readonly v: 1;
  readonly mirror: string;
  readonly task: TaskRef;
  readonly action: 'clone' | 'retire';
  readonly fence: number;
  readonly state: 'writing' | 'sealed' | 'settled';
  readonly outcome?: LaneOutcome | undefined;
  /** Highest number ever given to a generation of this mirror: numbers are never used twice. */
  readonly lastGeneration: number;
  /** Boot of the machine that wrote: bytes that were never flushed do not outlive it. */
  readonly boot: string;
  readonly host: string;
  readonly at: string;
}

interface NumberedRecord {
  readonly seq: number;
  readonly record: LaneRecord;
}

export function encodeRecord(seq: number, record: LaneRecord): string {
  return JSON.stringify({ seq, record });
}

/** @throws HgError HG_UNSUPPORTED for a record of a newer version: whoever wrote it must finish its work. */
export function decodeRecord(text: string, file: string): NumberedRecord {
  const parsed: unknown = JSON.parse(text);
  if (!isObject(parsed) || !isObject(parsed.record) || !isCount(parsed.seq)) throw damaged(file);
  const { record } = parsed;
  if (isCount(record.v) && record.v > 1) {
    throw new HgError('HG_UNSUPPORTED', 'the lane was written by a newer version', { file, version: record.v });
  }
  if (!isRecord(record)) throw damaged(file);
  return { seq: parsed.seq, record };
}

function damaged(file: string): HgError {
  return new HgError('HG_IO', 'the record of the lane is no record', { file });
}

function isRecord(value: object): value is LaneRecord {
  return (
    'v' in value &&
    value.v === 1 &&
    'mirror' in value &&
    typeof value.mirror === 'string' &&
    'task' in value &&
    isTask(value.task) &&
    'action' in value &&
    (value.action === 'clone' || value.action === 'retire') &&
    'fence' in value &&
    isCount(value.fence) &&
    'state' in value &&
    (value.state === 'writing' || value.state === 'sealed' || (value.state === 'settled' && 'outcome' in value)) &&
    'lastGeneration' in value &&
    isCount(value.lastGeneration) &&
    'boot' in value &&
    typeof value.boot === 'string'
  );
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

export function isTask(value: unknown): value is TaskRef {
  return isObject(value) && typeof value.id === 'string' && isCount(value.number);
}

/** Facts of a problem may hold names from a bundle: bounded, so that every record fits its slot. */
const MAX_TEXT = 400;
const MAX_FACTS = 16;
const MAX_BYTES = 8192;

export function boundedProblem(problem: StagedFault): StagedFault {
  const facts = Object.entries(problem.where).slice(0, MAX_FACTS);
  const where = Object.fromEntries(facts.map(([key, fact]) => [cut(key), typeof fact === 'string' ? cut(fact) : fact]));
  const { code, class: kind, retryable } = problem;
  const [message, advice, stage] = [cut(problem.message), cut(problem.advice), cut(problem.stage)];
  const bounded = { code, class: kind, message, where, retryable, advice, stage };
  // Escapes and letters of other scripts take up to six bytes each.
  return Buffer.byteLength(JSON.stringify(bounded)) <= MAX_BYTES ? bounded : { ...bounded, where: {} };
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}…`;
}
