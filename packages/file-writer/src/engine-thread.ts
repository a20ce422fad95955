import { setTimeout as sleep } from 'node:timers/promises';
import { type ResourceLimits, Worker } from 'node:worker_threads';
import { faultError, HgError, toHgError } from '@quicksilver/hg-types';
import type { Halt } from './halt.ts';
import { type FaultMessage, STOP, type StopMessage } from './thread-side.ts';

export interface EngineThreadOptions<Out> {
  readonly entry: URL;
  /** Named in errors. */
  readonly name: string;
  readonly workerData: unknown;
  readonly halt: Halt;
  onMessage(message: Out): void;
  readonly resourceLimits?: ResourceLimits;
  /**
   * Files opened there may be closed elsewhere, and the other way round. Else the thread closes what it has opened
   * and not closed when it ends, whoever has got that number by then.
   */
  readonly sharesDescriptors?: boolean;
}

/** How long a thread may take to end; one that hangs in a system call is not waited for longer, twice. */
const STOP_DEADLINE = 1_000;

/**
 * A thread that belongs to one attempt. It ends by itself after its last message (the owner then calls `done`), by a
 * fault that it reports, or unexpectedly (killed, out of memory); the last two stop the attempt.
 */
export class EngineThread<In extends { readonly kind: string }, Out extends { readonly kind: string }>
  implements AsyncDisposable
{
  readonly #worker: Worker;
  readonly #halt: Halt;
  readonly #name: string;
  readonly #exited: Promise<true>;
  #endIsExpected = false;
  #hasExited = false;

  constructor(options: EngineThreadOptions<Out>) {
    this.#halt = options.halt;
    this.#name = options.name;
    this.#worker = new Worker(options.entry, {
      name: options.name,
      workerData: options.workerData,
      trackUnmanagedFds: !options.sharesDescriptors,
      ...(options.resourceLimits ? { resourceLimits: options.resourceLimits } : {}),
    });
    this.#exited = new Promise((resolve) => this.#worker.once('exit', () => resolve(true)));
    this.#worker.on('message', (message: Out | FaultMessage) => {
      if (isFault(message)) this.#fail(faultError(message.fault));
      else options.onMessage(message);
    });
    this.#worker.on('messageerror', (err) => this.#fail(toHgError(err, { thread: this.#name })));
    this.#worker.on('error', (err) => this.#fail(toHgError(err, { thread: this.#name })));
    this.#worker.on('exit', (exit) => {
      this.#hasExited = true;
      if (this.#endIsExpected) return;
      this.#fail(new HgError('HG_WORKER_LOST', 'a thread of the engine ended', { thread: this.#name, exit }));
    });
  }

  post(message: In): void {
    this.#worker.postMessage(message);
  }

  /** The thread has said its last word and may end. */
  done(): void {
    this.#endIsExpected = true;
  }

  /** It runs no more, and holds nothing. */
  get exited(): boolean {
    return this.#hasExited;
  }

  /** Ends the thread and waits for it. Work in hand is given up only when the attempt has been stopped. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#endIsExpected = true;
    this.#worker.postMessage(STOP satisfies StopMessage);
    if (await this.#exitsWithin(STOP_DEADLINE)) return;
    // The last resort: the thread did not see the shared flag.
    void this.#worker.terminate();
    if (!(await this.#exitsWithin(STOP_DEADLINE))) this.#worker.unref();
  }

  async #exitsWithin(deadline: number): Promise<boolean> {
    const timer = new AbortController();
    const late = sleep(deadline, false as const, { signal: timer.signal }).catch(() => false as const);
    const exited = await Promise.race([this.#exited, late]);
    timer.abort();
    return exited;
  }

  #fail(err: HgError): void {
    this.#endIsExpected = true;
    this.#halt.stop(err);
  }
}

function isFault(message: { readonly kind: string }): message is FaultMessage {
  return message.kind === 'fault';
}
