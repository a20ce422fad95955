import { setTimeout as sleep } from 'node:timers/promises';

export interface WaitOptions {
  /** Milliseconds (default 10 s). */
  readonly deadline?: number;
  readonly interval?: number;
  /** Named in the error. */
  readonly what?: string;
}

/** Asks again until the answer is neither undefined nor false; a throw counts as "not yet" and is named at the end. */
export async function waitFor<T>(
  ask: () => T | Promise<T>,
  options: WaitOptions = {},
): Promise<Exclude<T, undefined | false>> {
  const { deadline = 10_000, interval = 20, what = 'condition' } = options;
  const end = performance.now() + deadline;
  let last: unknown;
  for (;;) {
    try {
      const answer = await ask();
      if (isAnswer(answer)) return answer;
      last = answer;
    } catch (error) {
      last = error;
    }
    if (performance.now() >= end) {
      throw new Error(`waited ${deadline} ms for ${what}; last answer: ${String(last)}`, { cause: last });
    }
    await sleep(interval);
  }
}

function isAnswer<T>(answer: T): answer is Exclude<T, undefined | false> {
  return answer !== undefined && answer !== false;
}
