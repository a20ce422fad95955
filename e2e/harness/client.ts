import { waitFor } from '@quicksilver/testing';

export interface Answer<T = Body> {
  readonly status: number;
  readonly body: T;
  readonly headers: Headers;
}

/** What the tests look at; the rest of a document is left unread. */
export interface Body {
  readonly [field: string]: unknown;
}

export interface ProblemView {
  readonly code: string;
  readonly class: string;
  readonly stage: string;
  readonly message: string;
  readonly advice: string;
  readonly retryable: boolean;
  readonly where: Readonly<Record<string, string | number>>;
}

export interface TaskView {
  readonly id: string;
  readonly mirror: string;
  readonly number: number;
  readonly action: string;
  readonly state: 'wanted' | 'admitted' | 'cancelling' | 'settled';
  readonly outcome: 'ready' | 'failed' | 'cancelled' | null;
  readonly generation: number | null;
  readonly problem: ProblemView | null;
  readonly progress: Body | null;
  readonly [field: string]: unknown;
}

export interface MirrorView {
  readonly name: string;
  readonly state: string;
  readonly generation: number | null;
  readonly path: string | null;
  readonly receipt: Body | null;
  readonly problem: ProblemView | null;
  readonly [field: string]: unknown;
}

export interface Posted {
  readonly mirror: MirrorView;
  readonly task: TaskView;
  readonly outcome: 'created' | 'merged';
}

export interface SseEvent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: unknown;
}

/** The REST interface as a client sees it. `base` is asked each time, since a restarted API may listen elsewhere. */
export class ApiClient {
  readonly #base: () => string;

  constructor(base: () => string) {
    this.#base = base;
  }

  async request<T = Body>(method: string, path: string, body?: unknown): Promise<Answer<T>> {
    const response = await fetch(`${this.#base()}${path}`, {
      method,
      signal: AbortSignal.timeout(10_000),
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: (text === '' ? {} : parse(text)) as T };
  }

  /** As `request`, but asks again while the API is away or answers 5xx. */
  async patiently<T = Body>(method: string, path: string, body?: unknown): Promise<Answer<T>> {
    return waitFor(
      async () => {
        const answer = await this.request<T>(method, path, body);
        return answer.status < 500 && answer;
      },
      { deadline: 30_000, interval: 100, what: `an answer to ${method} ${path}` },
    );
  }

  create(name: string, source: string, rest: Body = {}): Promise<Answer<Posted>> {
    return this.patiently<Posted>('POST', '/v1/mirrors', { name, source, ...rest });
  }

  clone(name: string, body: Body = {}): Promise<Answer<Posted>> {
    return this.patiently<Posted>('POST', `/v1/mirrors/${encodeURIComponent(name)}/clone`, body);
  }

  retire(name: string): Promise<Answer<Posted>> {
    return this.patiently<Posted>('DELETE', `/v1/mirrors/${encodeURIComponent(name)}`);
  }

  async mirror(name: string): Promise<MirrorView> {
    return (await this.patiently<MirrorView>('GET', `/v1/mirrors/${encodeURIComponent(name)}`)).body;
  }

  async task(id: string): Promise<TaskView> {
    return (await this.patiently<TaskView>('GET', `/v1/tasks/${id}`)).body;
  }

  cancel(id: string): Promise<Answer<TaskView>> {
    return this.patiently<TaskView>('DELETE', `/v1/tasks/${id}`);
  }

  /** Waits until the task is settled. */
  settled(id: string, deadline = 30_000): Promise<TaskView> {
    const settledOnly = async (): Promise<TaskView | string> => {
      const { body } = await this.request<TaskView>('GET', `/v1/tasks/${id}`);
      return body.state === 'settled' ? body : JSON.stringify(body);
    };
    return waitFor(
      async () => {
        const seen = await settledOnly();
        if (typeof seen === 'string') throw new Error(seen);
        return seen;
      },
      { deadline, interval: 50, what: `task ${id} to be settled` },
    );
  }

  /** Server-sent events of a task until the server ends the stream or the signal stops it. */
  async *events(id: string, signal: AbortSignal): AsyncGenerator<SseEvent> {
    const response = await fetch(`${this.#base()}/v1/tasks/${id}/events`, {
      signal,
      headers: { accept: 'text/event-stream' },
    });
    if (!response.ok || !response.body) throw new Error(`events answered ${response.status}`);
    let held = '';
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body) {
        held += decoder.decode(chunk, { stream: true });
        const blocks = held.split(/\r?\n\r?\n/);
        held = blocks.pop() ?? '';
        for (const block of blocks) {
          const event = parseEvent(block);
          if (event) yield event;
        }
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

function parseEvent(block: string): SseEvent | undefined {
  const fields = new Map<string, string>();
  for (const line of block.split(/\r?\n/)) {
    const at = line.indexOf(':');
    if (at <= 0) continue;
    const name = line.slice(0, at);
    const value = line.slice(at + 1).replace(/^ /, '');
    fields.set(name, fields.has(name) ? `${fields.get(name)}\n${value}` : value);
  }
  const data = fields.get('data');
  if (data === undefined) return undefined;
  return { id: fields.get('id'), event: fields.get('event') ?? 'message', data: parse(data) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
