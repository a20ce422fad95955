import { setTimeout as sleep } from 'node:timers/promises';
import { HgError, isHgErrorCode } from '@quicksilver/hg-types';
import { Problem, Progress } from '@quicksilver/jobs';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { z } from 'zod';
import { AdvisedError } from '../cli/faults.ts';

/** Of the API's answers, what is used here; more may be there. */
const Task = z.object({
  id: z.string(),
  state: z.string(),
  outcome: z.string().nullable(),
  generation: z.int().nullable().optional(),
  problem: Problem.nullable().optional(),
});
export type Task = z.infer<typeof Task>;

const Accepted = z.object({ outcome: z.enum(['created', 'merged']), task: Task.nullable() });
export type Accepted = z.infer<typeof Accepted>;

const Mirror = z.object({
  name: z.string(),
  state: z.string(),
  generation: z.int().nullable(),
  path: z.string().nullable(),
  receipt: z.record(z.string(), z.unknown()).nullable(),
});
export type Mirror = z.infer<typeof Mirror>;

const ProblemDocument = z.object({ code: z.string(), detail: z.string(), advice: z.string().default('') });

export type TaskEvent =
  | { readonly kind: 'state'; readonly task: Task }
  | { readonly kind: 'progress'; readonly progress: Progress };

const RECONNECT_MS = 300;

/** The API as its clients see it: nothing here knows the services' insides. */
export class ApiClient {
  readonly #base: string;
  readonly #signal: AbortSignal;

  constructor(base: string, signal: AbortSignal) {
    this.#base = base;
    this.#signal = signal;
  }

  createMirror(request: { name: string; source: string; verify: 'quick' }): Promise<Accepted> {
    return this.#ask(Accepted, '/v1/mirrors', request);
  }

  cloneAgain(name: string): Promise<Accepted> {
    return this.#ask(Accepted, `/v1/mirrors/${encodeURIComponent(name)}/clone`, {});
  }

  mirror(name: string): Promise<Mirror> {
    return this.#ask(Mirror, `/v1/mirrors/${encodeURIComponent(name)}`);
  }

  task(id: string): Promise<Task> {
    return this.#ask(Task, `/v1/tasks/${id}`);
  }

  /** Until the task is settled, over as many connections as that takes: an API that restarts is asked again. */
  async *events(id: string): AsyncGenerator<TaskEvent> {
    for (;;) {
      try {
        for await (const event of this.#stream(id)) {
          yield event;
          if (event.kind === 'state' && event.task.state === 'settled') return;
        }
      } catch (err) {
        if (this.#signal.aborted) throw this.#signal.reason;
        if (err instanceof HgError) throw err;
      }
      await sleep(RECONNECT_MS, undefined, { signal: this.#signal });
    }
  }

  async *#stream(id: string): AsyncGenerator<TaskEvent> {
    const response = await fetch(new URL(`/v1/tasks/${id}/events`, this.#base), { signal: this.#signal });
    if (!response.ok || !response.body) throw await problemOf(response);
    const events = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
    for await (const { event, data } of events) {
      if (event === 'state') yield { kind: 'state', task: Task.parse(JSON.parse(data)) };
      else if (event === 'progress') yield { kind: 'progress', progress: Progress.parse(JSON.parse(data)) };
    }
  }

  async #ask<T>(schema: z.ZodType<T>, path: string, body?: object): Promise<T> {
    const request = body
      ? { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
      : {};
    const response = await fetch(new URL(path, this.#base), { ...request, signal: this.#signal });
    if (!response.ok) throw await problemOf(response);
    return schema.parse(await response.json());
  }
}

async function problemOf(response: Response): Promise<HgError> {
  const parsed = ProblemDocument.safeParse(await response.json().catch(() => undefined));
  if (!parsed.success) {
    return new HgError('HG_INTERNAL', 'the API gave an answer that is no problem document', {
      status: response.status,
    });
  }
  const { code, detail, advice } = parsed.data;
  return new AdvisedError(isHgErrorCode(code) ? code : 'HG_POLICY', detail, {
    where: { status: response.status, code },
    advice,
  });
}
