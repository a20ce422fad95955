import { HgError, isHgErrorCode, toHgError } from '@quicksilver/hg-types';

/**
 * One per attempt, shared by all that work for it. The first error wins, everybody else stops, every wait wakes:
 * whoever waits listens to `signal`, and the blocks are stopped through it.
 */
export class Halt implements Disposable {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #onOuter = (): void => void this.stop(cancellation(this.#outer?.reason));
  #error: HgError | undefined;

  constructor(outer?: AbortSignal) {
    this.#outer = outer;
    if (outer?.aborted) this.#onOuter();
    else outer?.addEventListener('abort', this.#onOuter, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get error(): HgError | undefined {
    return this.#error;
  }

  /** Returns the error of the attempt: this one if it is the first, else the first. */
  stop(err: unknown): HgError {
    if (this.#error === undefined) {
      this.#error = toHgError(err);
      this.#controller.abort(this.#error);
    }
    return this.#error;
  }

  /** Throws the error of the attempt once there is one. */
  check(): void {
    if (this.#error !== undefined) throw this.#error;
  }

  [Symbol.dispose](): void {
    this.#outer?.removeEventListener('abort', this.#onOuter);
  }
}

/** An abort with a coded reason keeps it (a lost lock, a deadline of the caller); any other reason is a cancel. */
function cancellation(reason: unknown): HgError {
  const coded = typeof reason === 'object' && reason !== null && 'code' in reason && isHgErrorCode(reason.code);
  return coded ? toHgError(reason) : new HgError('HG_CANCELLED', 'the work was cancelled', {}, reason);
}
