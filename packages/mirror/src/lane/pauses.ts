import { setTimeout as sleep } from 'node:timers/promises';

const FIRST = 2;
const LONGEST = 100;

/** Pauses that grow from 2 to 100 ms, each shortened by chance so that waiters do not ask in step. */
export class Pauses {
  #next = FIRST;

  async wait(signal: AbortSignal): Promise<void> {
    const pause = this.#next * (0.5 + Math.random() / 2);
    this.#next = Math.min(LONGEST, this.#next * 1.5);
    await sleep(pause, undefined, { signal });
  }
}
