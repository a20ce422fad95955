import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { faultError, HgError } from '@quicksilver/hg-types';
import type { Logger } from 'pino';
import { logOutput } from './output-log.ts';
import { ALIVE_INTERVAL_MS, type EngineRequest, type FromEngine, isFromEngine, type ToEngine } from './protocol.ts';

export interface EngineChildOptions {
  readonly entry: URL;
  readonly env: NodeJS.ProcessEnv;
  readonly logger: Logger;
  /** Time that an engine has to answer an abort, before it is killed. */
  readonly killAfterMs: number;
  /** An engine that says nothing at all for so long hangs or is frozen, and is killed. */
  readonly maxSilenceMs: number;
}

export interface RunOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: ((value: unknown) => void) | undefined;
  readonly onEvent?: ((value: unknown) => void) | undefined;
}

interface Running {
  readonly id: number;
  readonly options: RunOptions;
  readonly resolve: (result: unknown) => void;
  readonly reject: (err: Error) => void;
}

/** One engine process; runs one request at a time, many one after another. */
export class EngineChild {
  /** Requests answered so far. */
  jobs = 0;
  /** Resident bytes after the last answer. */
  rss = 0;
  readonly #process: ChildProcess;
  readonly #options: EngineChildOptions;
  readonly #logger: Logger;
  readonly #exited: Promise<void>;
  /** Lost before it took up the request: another engine may be asked without harm. */
  lostUntouched = false;
  #running: Running | undefined;
  #heardOf = 0;
  #gone = false;
  #nextId = 1;
  #silentFor = 0;
  #killedFor: 'abort' | 'silence' | undefined;

  constructor(options: EngineChildOptions) {
    this.#options = options;
    this.#process = fork(options.entry, [], {
      serialization: 'advanced',
      env: options.env,
      // Nothing is inherited: flags of a debugger or a test runner are not the engine's.
      execArgv: [],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#logger = options.logger.child({ engine: this.#process.pid });
    if (this.#process.stdout) logOutput(this.#process.stdout, this.#logger, 'debug');
    if (this.#process.stderr) logOutput(this.#process.stderr, this.#logger, 'warn');
    this.#process.on('message', (message: unknown) => {
      if (isFromEngine(message)) this.#heard(message);
    });
    this.#exited = new Promise((resolve) => {
      const ended = (facts: Record<string, string | number>) => {
        if (!this.#gone) this.#lost(facts);
        resolve();
      };
      this.#process.on('error', (err) => ended({ reason: err.message }));
      this.#process.on('exit', (code, signal) => ended(signal ? { signal } : { exitCode: code ?? -1 }));
    });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  get gone(): boolean {
    return this.#gone;
  }

  /** Resolves when the process has ended. */
  get exited(): Promise<void> {
    return this.#exited;
  }

  /** @throws HgError the engine's fault; HG_CANCELLED when aborted; HG_WORKER_LOST when it ended without an answer */
  run(request: EngineRequest, options: RunOptions): Promise<unknown> {
    if (this.#running) throw new Error('an engine process runs one request at a time');
    const { signal } = options;
    const id = this.#nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#running = { id, options, resolve, reject };
    const onAbort = () => this.#abort(id);
    const watch = setInterval(() => this.#watchSilence(), ALIVE_INTERVAL_MS);
    this.#silentFor = 0;
    if (this.#gone) this.#lost({ reason: 'gone before it began' });
    else {
      this.#send({ type: 'run', id, request });
      if (signal.aborted) onAbort();
      else signal.addEventListener('abort', onAbort, { once: true });
    }
    return promise.finally(() => {
      clearInterval(watch);
      signal.removeEventListener('abort', onAbort);
    });
  }

  /** Lets an idle process leave by itself; kills one that does not. */
  async stop(): Promise<void> {
    if (!this.#gone) {
      if (this.#process.connected) this.#process.disconnect();
      await Promise.race([this.#exited, sleep(this.#options.killAfterMs, undefined, { ref: false })]);
      if (!this.#gone) this.#process.kill('SIGKILL');
    }
    await this.#exited;
  }

  #heard(message: FromEngine): void {
    const running = this.#running;
    if (running?.id !== message.id) return;
    this.#silentFor = 0;
    this.#heardOf = message.id;
    switch (message.type) {
      case 'alive':
        return;
      case 'progress':
        running.options.onProgress?.(message.value);
        return;
      case 'event':
        running.options.onEvent?.(message.value);
        return;
      case 'done':
        this.#answered(message.rss, () => running.resolve(message.result));
        return;
      case 'failed':
        this.#answered(message.rss, () => running.reject(faultError(message.fault)));
        return;
    }
  }

  #answered(rss: number, answer: () => void): void {
    this.jobs += 1;
    this.rss = rss;
    this.#settle(answer);
  }

  #settle(answer: (running: Running) => void): void {
    const running = this.#running;
    this.#running = undefined;
    if (running) answer(running);
  }

  #abort(id: number): void {
    if (this.#running?.id !== id) return;
    this.#send({ type: 'abort', id });
    setTimeout(() => {
      if (this.#running?.id !== id) return;
      this.#kill('abort');
    }, this.#options.killAfterMs).unref();
  }

  #watchSilence(): void {
    // Counted in ticks, not by the clock: a machine that was suspended must not kill what it suspended along.
    this.#silentFor += ALIVE_INTERVAL_MS;
    if (this.#options.maxSilenceMs > 0 && this.#silentFor > this.#options.maxSilenceMs) this.#kill('silence');
  }

  #kill(why: 'abort' | 'silence'): void {
    this.#killedFor ??= why;
    this.#process.kill('SIGKILL');
  }

  #lost(facts: Record<string, string | number>): void {
    this.#gone = true;
    this.#settle((running) => {
      this.lostUntouched = this.#heardOf !== running.id;
      if (this.#killedFor === 'abort') running.reject(new HgError('HG_CANCELLED', 'the work was cancelled'));
      else running.reject(lostError(this.#killedFor ? { ...facts, reason: 'it answered no longer' } : facts));
    });
  }

  #send(message: ToEngine): void {
    // A channel that breaks is followed by the end of the process, which settles the request.
    this.#process.send(message, undefined, {}, (err) => {
      if (err) this.#logger.debug({ err }, 'message to the engine was not sent');
    });
  }
}

function lostError(facts: Record<string, string | number>): HgError {
  return new HgError('HG_WORKER_LOST', 'worker lost: the engine process ended without an answer', facts);
}
