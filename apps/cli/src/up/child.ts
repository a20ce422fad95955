import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ChildSpec {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Asked at each start: a restarted API keeps the port that it found the first time. */
  readonly env: () => NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Milliseconds that a stop may take before it is a kill. */
  readonly stopDeadline: number;
}

export interface ChildEnd {
  /** `exit code 1`, `signal SIGKILL`, or why it could not be started. */
  readonly how: string;
  /** Of a program that ended by itself. */
  readonly code?: number | undefined;
  readonly uptime: number;
  /** Milliseconds until it is started again. */
  readonly restartIn: number;
  /** How often it has ended by itself since it last ran well. */
  readonly failures: number;
}

export interface ChildListener {
  started(pid: number): void;
  line(text: string, stream: 'stdout' | 'stderr'): void;
  /** It ended without being asked to, and will be started again. */
  ended(end: ChildEnd): void;
}

const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 10_000;
/** Milliseconds after which a child counts as running well, and its next end as the first. */
const RAN_WELL = 30_000;

export function restartPause(failures: number): number {
  return Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** Math.min(failures - 1, 10));
}

/**
 * One supervised process: started again when it ends, with growing pauses, until it is stopped.
 *
 * Each leads a session of its own, so that Ctrl-C on the terminal reaches the supervisor alone, which then stops its
 * children in their order.
 */
export class Child {
  readonly spec: ChildSpec;
  readonly #listener: ChildListener;
  #process: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();
  #restart: NodeJS.Timeout | undefined;
  #stopping = false;
  #failures = 0;

  constructor(spec: ChildSpec, listener: ChildListener) {
    this.spec = spec;
    this.#listener = listener;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  start(): void {
    if (this.#stopping) return;
    const { command, args, env, cwd } = this.spec;
    const began = performance.now();
    const child = spawn(command, args, { cwd, env: env(), stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    this.#process = child;
    this.#read(child.stdout, 'stdout');
    this.#read(child.stderr, 'stderr');
    this.#ended = new Promise((resolve) => {
      let failed: string | undefined;
      const finish = (how: string, code?: number) => {
        if (this.#process !== child) return;
        this.#process = undefined;
        resolve();
        this.#onEnd({ how, code, uptime: performance.now() - began });
      };
      child.once('error', (err) => {
        failed = err.message;
        // A process that could not be made may never say `close`.
        if (child.pid === undefined) finish(failed);
      });
      child.once('close', (code, signal) =>
        finish(failed ?? (signal ? `signal ${signal}` : `exit code ${code}`), code ?? undefined),
      );
    });
    if (child.pid !== undefined) this.#listener.started(child.pid);
  }

  /** Asks it to end, waits, and kills it when it takes too long. Resolves when it is gone. */
  async stop(): Promise<void> {
    this.#cancelRestart();
    if (!this.#process) return;
    this.#signal('SIGTERM');
    const late = new AbortController();
    const deadline = sleep(this.spec.stopDeadline, undefined, { signal: late.signal }).then(
      () => this.kill(),
      () => {},
    );
    await this.#ended;
    late.abort();
    await deadline;
  }

  /** At once, with all that it started in its group. */
  kill(): void {
    this.#cancelRestart();
    const pid = this.#process?.pid;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      this.#signal('SIGKILL');
    }
  }

  #cancelRestart(): void {
    this.#stopping = true;
    clearTimeout(this.#restart);
  }

  #signal(name: NodeJS.Signals): void {
    this.#process?.kill(name);
  }

  #onEnd(end: Pick<ChildEnd, 'how' | 'code' | 'uptime'>): void {
    if (this.#stopping) return;
    this.#failures = end.uptime > RAN_WELL ? 1 : this.#failures + 1;
    const restartIn = restartPause(this.#failures);
    this.#restart = setTimeout(() => this.start(), restartIn);
    this.#listener.ended({ ...end, restartIn, failures: this.#failures });
  }

  #read(stream: Readable, name: 'stdout' | 'stderr'): void {
    createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (text) => {
      this.#listener.line(text, name);
    });
  }
}
