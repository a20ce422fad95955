import type { Response } from 'express';
import type { TaskEvents, TaskNotice } from '../control/task-events.ts';
import type { TasksService } from '../control/tasks.service.ts';
import { ApiProblem } from '../domain/problem.ts';
import { SseStream } from './sse.ts';
import { taskView } from './views.ts';

export interface TaskStreamsOptions {
  readonly tasks: Pick<TasksService, 'task' | 'progress'>;
  readonly events: TaskEvents;
  /** Clients that may listen at once, over all tasks. */
  readonly maxClients: number;
  readonly heartbeat: number;
}

const RETRY_AFTER_SECONDS = 5;

/** Serves the events of tasks: the state now, then what changes, until the task is settled. */
export class TaskStreams implements Disposable {
  readonly #options: TaskStreamsOptions;
  readonly #streams = new Set<SseStream>();
  #closing = false;

  constructor(options: TaskStreamsOptions) {
    this.#options = options;
  }

  get clients(): number {
    return this.#streams.size;
  }

  /** @param lastEventId as a browser sends it when it connects again */
  async open(id: string, response: Response, lastEventId: string | undefined): Promise<void> {
    const { tasks, events, maxClients, heartbeat } = this.#options;
    const task = await tasks.task(id);
    if (task.state === 'settled' && lastEventId === `${id}.settled`) {
      // It has heard the end: this tells a browser to stop asking.
      response.status(204).end();
      return;
    }
    if (this.#closing || this.#streams.size >= maxClients) {
      throw new ApiProblem('API_BUSY', `${maxClients} clients listen already`, { retryAfter: RETRY_AFTER_SECONDS });
    }
    const stream = new SseStream(response, heartbeat);
    this.#streams.add(stream);
    // State is read again for each notice, one read after the other, so that they leave in order.
    let queue = Promise.resolve();
    const follow = (notice: TaskNotice) => {
      queue = queue.then(() => this.#relay(id, stream, notice)).catch(() => stream.end());
    };
    const unsubscribe = events.subscribe(id, follow);
    stream.onClose(() => {
      unsubscribe();
      this.#streams.delete(stream);
    });
    follow({ kind: 'state' });
    const progress = await tasks.progress(task);
    if (progress && task.state === 'admitted') follow({ kind: 'progress', progress });
  }

  async #relay(id: string, stream: SseStream, notice: TaskNotice): Promise<void> {
    if (!stream.open) return;
    if (notice.kind === 'progress') {
      stream.send({ event: 'progress', data: notice.progress });
      return;
    }
    const view = taskView(await this.#options.tasks.task(id));
    stream.send({ event: 'state', id: `${id}.${view.state}`, data: view });
    if (view.state === 'settled') stream.end();
  }

  [Symbol.dispose](): void {
    this.#closing = true;
    for (const stream of this.#streams) stream.end();
  }
}
