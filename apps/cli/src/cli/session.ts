import { printable } from '@quicksilver/hg-types';
import { type ProgressUpdate, type ProgressView, progressFor, silentProgress } from '../terminal/progress.ts';
import { EXIT, exitFor } from './exit-codes.ts';
import { debugText, describeFailure } from './faults.ts';
import { Interruption } from './interruption.ts';

/** Options that every command has. */
export interface CommonFlags {
  readonly json?: boolean | undefined;
  readonly quiet?: boolean | undefined;
}

const JSON_PROGRESS_MS = 1000;

/** What a command has to say, and where it goes: results on stdout, all else on stderr; with --json lines on stdout. */
export class Session {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly #view: ProgressView;
  readonly #interruption: Interruption;
  #progressAt = Number.NEGATIVE_INFINITY;

  constructor(flags: CommonFlags, onInterrupt = 'stopping, and removing what was begun ...') {
    this.json = flags.json ?? false;
    this.quiet = flags.quiet ?? false;
    this.#view = this.quiet || this.json ? silentProgress : progressFor(process.stderr, process.env);
    this.#interruption = new Interruption(() => {
      this.#view.end();
      this.note(onInterrupt);
    });
  }

  get signal(): AbortSignal {
    return this.#interruption.signal;
  }

  get interruption(): Interruption {
    return this.#interruption;
  }

  /** A result for a person; nothing with --json, where `record` has said it. */
  say(text: string): void {
    if (!this.json) process.stdout.write(`${text}\n`);
  }

  /** A result for a program: one JSON line, only with --json. */
  record(type: string, facts: object): void {
    if (this.json) process.stdout.write(`${JSON.stringify({ type, ...facts })}\n`);
  }

  /** On the way, for a person. */
  note(text: string): void {
    if (!this.quiet) process.stderr.write(`${text}\n`);
  }

  /** Shown also with --quiet: it is about the result. */
  warn(text: string): void {
    process.stderr.write(`quicksilver: warning: ${printable(text)}\n`);
  }

  progress(update: ProgressUpdate): void {
    this.#view.update(update);
    if (!this.json || this.quiet) return;
    const now = performance.now();
    if (now - this.#progressAt < JSON_PROGRESS_MS) return;
    this.#progressAt = now;
    this.record('progress', update);
  }

  endProgress(): void {
    this.#view.end();
  }

  /** Says what went wrong and returns the exit code for it. */
  fail(err: unknown): number {
    this.#view.end();
    const { fault, text: described } = describeFailure(err);
    this.record('error', { ...fault });
    const stoppedBy = fault.code === 'HG_CANCELLED' ? this.#interruption.received : undefined;
    const text = stoppedBy ? `stopped by ${stoppedBy}` : described;
    process.stderr.write(`quicksilver: ${text}\n`);
    if (process.env.QUICKSILVER_DEBUG === '1') process.stderr.write(`${debugText(err)}\n`);
    return exitFor(fault, this.#interruption.received);
  }
}

/** Runs a command's body; the value that it resolves to is the exit code. */
export async function inSession(session: Session, body: (session: Session) => Promise<number>): Promise<number> {
  try {
    return await body(session);
  } catch (err) {
    return session.fail(err);
  } finally {
    session.endProgress();
  }
}

export const OK: number = EXIT.ok;
