import { HgError } from '@quicksilver/hg-types';
import { STOP_SIGNALS, type StopSignal, signalExit } from './exit-codes.ts';

/** Wrappers (`timeout`, `npm run`) pass on a signal that the terminal had sent already: that is no second wish. */
const SAME_WISH_MS = 500;

/**
 * Ctrl-C and its relatives as an AbortSignal. The first asks the work to stop and clean up after itself; once that
 * takes longer than the person is ready to wait, a second one ends the process as it stands.
 */
export class Interruption implements Disposable {
  readonly #controller = new AbortController();
  readonly #handlers = new Map<StopSignal, () => void>();
  #received: StopSignal | undefined;
  #receivedAt = 0;

  constructor(onFirst: (signal: StopSignal) => void) {
    for (const name of STOP_SIGNALS) {
      const handler = () => {
        if (this.#received && performance.now() - this.#receivedAt < SAME_WISH_MS) return;
        if (this.#received) process.exit(signalExit(name));
        this.#receivedAt = performance.now();
        this.#received = name;
        onFirst(name);
        this.#controller.abort(new HgError('HG_CANCELLED', 'stopped by a signal', { signal: name }));
      };
      this.#handlers.set(name, handler);
      process.on(name, handler);
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get received(): StopSignal | undefined {
    return this.#received;
  }

  [Symbol.dispose](): void {
    for (const [name, handler] of this.#handlers) process.off(name, handler);
  }
}
