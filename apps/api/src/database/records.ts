import { Problem, Progress } from '@quicksilver/jobs';
import { z } from 'zod';
import { CloneRequest } from '../domain/clone-request.ts';
import {
  type MirrorState,
  MirrorStateSchema,
  type TaskAction,
  TaskActionSchema,
  type TaskEventType,
  TaskEventTypeSchema,
  type TaskOutcomeState,
  TaskOutcomeStateSchema,
  type TaskState,
  TaskStateSchema,
} from '../domain/lifecycle.ts';
import type { MirrorRow, TaskEventRow, TaskRow } from './schema.ts';

/** Rows as the rest of the app sees them: parsed, with flags as booleans. */
export interface MirrorRecord {
  readonly id: string;
  readonly name: string;
  readonly volume: string;
  readonly request: CloneRequest | null;
  readonly state: MirrorState;
  readonly generation: number | null;
  readonly path: string | null;
  readonly receipt: JsonObject | null;
  readonly lastSuccess: number | null;
  readonly problem: Problem | null;
  readonly retired: boolean;
  readonly nextNumber: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface TaskRecord {
  readonly seq: number;
  readonly id: string;
  readonly mirrorId: string;
  readonly mirror: string;
  readonly volume: string;
  readonly number: number;
  readonly action: TaskAction;
  readonly state: TaskState;
  readonly outcome: TaskOutcomeState | null;
  readonly flow: number;
  readonly cancelRequested: boolean;
  readonly request: CloneRequest | null;
  readonly generation: number | null;
  readonly problem: Problem | null;
  readonly progress: Progress | null;
  readonly createdAt: number;
  readonly admittedAt: number | null;
  readonly settledAt: number | null;
}

export interface TaskEventRecord {
  readonly id: number;
  readonly at: number;
  readonly type: TaskEventType;
  readonly detail: JsonObject;
}

export type JsonObject = Record<string, unknown>;
const JsonObjectSchema = z.record(z.string(), z.unknown());

/** A task row joined with the two columns of its mirror that everyone needs. */
export type TaskJoinRow = TaskRow & { readonly mirror: string; readonly volume: string };

export function mirrorRecord(row: MirrorRow): MirrorRecord {
  return {
    id: row.id,
    name: row.name,
    volume: row.volume,
    request: parsed(CloneRequest, row.request_json),
    state: MirrorStateSchema.parse(row.state),
    generation: row.generation,
    path: row.path,
    receipt: parsed(JsonObjectSchema, row.receipt_json),
    lastSuccess: row.last_success,
    problem: parsed(Problem, row.problem_json),
    retired: row.retired_at !== null,
    nextNumber: row.next_number,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export function taskRecord(row: TaskJoinRow): TaskRecord {
  return {
    seq: row.seq,
    id: row.id,
    mirrorId: row.mirror_id,
    mirror: row.mirror,
    volume: row.volume,
    number: row.number,
    action: TaskActionSchema.parse(row.action),
    state: TaskStateSchema.parse(row.state),
    outcome: row.outcome === null ? null : TaskOutcomeStateSchema.parse(row.outcome),
    flow: row.flow,
    cancelRequested: row.cancel_requested === 1,
    request: parsed(CloneRequest, row.request_json),
    generation: row.generation,
    problem: parsed(Problem, row.problem_json),
    progress: parsed(Progress, row.progress_json),
    createdAt: row.created_at,
    admittedAt: row.admitted_at,
    settledAt: row.settled_at,
  };
}

export function eventRecord(row: TaskEventRow): TaskEventRecord {
  return {
    id: row.id,
    at: row.at,
    type: TaskEventTypeSchema.parse(row.type),
    detail: JsonObjectSchema.parse(JSON.parse(row.detail_json)),
  };
}

export function json(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

function parsed<T>(schema: z.ZodType<T>, text: string | null): T | null {
  return text === null ? null : schema.parse(JSON.parse(text));
}
