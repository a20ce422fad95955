import type { MirrorRef, TaskRef } from '@quicksilver/jobs';

/** Why a running job has to stop, apart from being cancelled. */
export type StopReason =
  /** This process goes: the job is handed back. */
  | 'draining'
  /** Its lock could not be renewed: another worker may have it already. */
  | 'lock-lost';

/** One job under way in this process, with the two ways to stop it. */
export class ActiveJob {
  readonly jobId: string;
  readonly task: TaskRef;
  readonly mirror: MirrorRef;
  readonly #stop = new AbortController();
  readonly #cancel = new AbortController();
  #stopped: StopReason | undefined;

  constructor(jobId: string, task: TaskRef, mirror: MirrorRef) {
    this.jobId = jobId;
    this.task = task;
    this.mirror = mirror;
  }

  /** Aborts when this process must let go of the job, and ends nothing for the task. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Aborts when a user wants the task gone. */
  get cancelSignal(): AbortSignal {
    return this.#cancel.signal;
  }

  get cancelled(): boolean {
    return this.#cancel.signal.aborted;
  }

  get stopped(): StopReason | undefined {
    return this.#stopped;
  }

  cancel(): void {
    this.#cancel.abort();
  }

  /** The first reason stays. */
  stop(reason: StopReason): void {
    this.#stopped ??= reason;
    this.#stop.abort();
  }
}
