import { readdirSync, readFileSync } from 'node:fs';

/** For what the process opens beside: sources, logs, sockets, modules that are loaded late. */
const RESERVE = 16;
/** Where the system does not say: what POSIX lets every process have on the systems of today. */
const FALLBACK = { limit: 256, open: 64 };

interface Descriptors {
  readonly limit: number;
  readonly open: number;
}

/** The soft limit of this process (RLIMIT_NOFILE), and how many descriptors it has open. */
export function readDescriptors(): Descriptors {
  try {
    const [, soft] = /^Max open files +(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    if (soft === undefined) return FALLBACK;
    const limit = soft === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(soft);
    return { limit, open: readdirSync('/proc/self/fd').length };
  } catch {
    return FALLBACK;
  }
}

/**
 * What may be opened beyond one file per writer, shared by all that ask in this process. Each may have half of what
 * is left, so that whoever comes later gets something, too.
 */
export class OpenFileBudget {
  readonly #read: () => Descriptors;
  #reserved = 0;
  /** What was open when nothing was reserved: later counts would count what is reserved a second time. */
  #base: Descriptors = FALLBACK;

  constructor(read: () => Descriptors = readDescriptors) {
    this.#read = read;
  }

  /** `fit` says how much of what there is it takes; 0 takes nothing. */
  reserve(fit: (available: number) => number): { readonly granted: number } & Disposable {
    if (this.#reserved === 0) this.#base = this.#read();
    const left = this.#base.limit - this.#base.open - RESERVE - this.#reserved;
    const granted = fit(Math.max(0, Math.floor(left / 2)));
    this.#reserved += granted;
    let held = granted;
    return {
      granted,
      [Symbol.dispose]: () => {
        this.#reserved -= held;
        held = 0;
      },
    };
  }
}

/** The one of this process. Threads that run engines of their own would each have one: they run in processes. */
export const openFileBudget = new OpenFileBudget();
