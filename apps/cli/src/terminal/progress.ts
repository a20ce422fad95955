import { printable } from '@quicksilver/hg-types';
import { formatBytes, formatCount, formatDuration } from './format.ts';
import { Rate } from './rate.ts';

/** What every source of progress gives: the engine in this process, or a task's events over HTTP. */
export interface ProgressUpdate {
  readonly stage: string;
  readonly files: { readonly done: number; readonly total: number };
  readonly bytes: { readonly done: number; readonly total: number };
  /** For example who holds a lock that is waited for. */
  readonly note?: string | undefined;
}

export interface ProgressView {
  update(progress: ProgressUpdate): void;
  /** Takes what is on the screen away, so that a result or an error starts on a clean line. */
  end(): void;
}

export interface ProgressOut {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

const REDRAW_MS = 100;
const PLAIN_MS = 10_000;
const BAR_WIDTH = 20;
const CLEAR = '\r\x1b[K';

export type Clock = () => number;

/** One line that is drawn over itself. For terminals. */
export class TerminalProgress implements ProgressView {
  readonly #out: ProgressOut;
  readonly #clock: Clock;
  #rate = new Rate();
  #stage = '';
  #drawnAt = Number.NEGATIVE_INFINITY;
  #shown = false;

  constructor(out: ProgressOut, clock: Clock = () => performance.now()) {
    this.#out = out;
    this.#clock = clock;
  }

  update(progress: ProgressUpdate): void {
    const now = this.#clock();
    if (progress.stage !== this.#stage) {
      this.#stage = progress.stage;
      this.#rate = new Rate();
      this.#drawnAt = Number.NEGATIVE_INFINITY;
    }
    this.#rate.add(progress.bytes.done, now);
    if (now - this.#drawnAt < REDRAW_MS) return;
    this.#drawnAt = now;
    this.#shown = true;
    // One column is left free: a full line would wrap and then not be cleared.
    const width = Math.max(20, (this.#out.columns ?? 80) - 1);
    this.#out.write(`${CLEAR}${terminalLine(progress, this.#rate.perSecond, width)}`);
  }

  end(): void {
    if (this.#shown) this.#out.write(CLEAR);
    this.#shown = false;
  }
}

/** A whole line at each new stage and then every ten seconds. For logs and pipes. */
export class PlainProgress implements ProgressView {
  readonly #out: ProgressOut;
  readonly #clock: Clock;
  #rate = new Rate();
  #stage = '';
  #saidAt = 0;

  constructor(out: ProgressOut, clock: Clock = () => performance.now()) {
    this.#out = out;
    this.#clock = clock;
    this.#saidAt = clock();
  }

  update(progress: ProgressUpdate): void {
    const now = this.#clock();
    if (progress.stage !== this.#stage) {
      this.#stage = progress.stage;
      this.#rate = new Rate();
    }
    this.#rate.add(progress.bytes.done, now);
    // Work that is over within seconds says nothing here: its result is line enough.
    if (now - this.#saidAt < PLAIN_MS) return;
    this.#saidAt = now;
    this.#out.write(`${plainLine(progress, this.#rate.perSecond)}\n`);
  }

  end(): void {}
}

export const silentProgress: ProgressView = { update: () => {}, end: () => {} };

/** A dumb terminal cannot clear a line. */
export function progressFor(out: ProgressOut, env: NodeJS.ProcessEnv): ProgressView {
  return out.isTTY && env.TERM !== 'dumb' ? new TerminalProgress(out) : new PlainProgress(out);
}

/** Fetching and writing are measured in bytes; what comes after goes through what was written piece by piece. */
const inBytes = (stage: string): boolean => stage === 'write' || stage === 'fetch';

function share({ stage, files, bytes }: ProgressUpdate): number {
  const { done, total } = inBytes(stage) || files.total === 0 ? bytes : files;
  return total > 0 ? Math.min(1, done / total) : 0;
}

/** Some servers do not say how much there is. */
function amount({ done, total }: ProgressUpdate['bytes']): string {
  return total > 0 ? `${formatBytes(done)} of ${formatBytes(total)}` : formatBytes(done);
}

function speed(progress: ProgressUpdate, rate: number | undefined): string[] {
  if (!inBytes(progress.stage) || !rate) return [];
  const left = progress.bytes.total - progress.bytes.done;
  return [`${formatBytes(rate)}/s`, ...(left > 0 ? [`${formatDuration(left / rate)} left`] : [])];
}

function terminalLine(progress: ProgressUpdate, rate: number | undefined, width: number): string {
  const { stage, files, bytes, note } = progress;
  const known = bytes.total > 0 || files.total > 0;
  const writing = stage === 'write';
  const filled = Math.round(share(progress) * BAR_WIDTH);
  const bar = known ? [`[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}]`] : [];
  const percent = known ? [`${Math.floor(share(progress) * 100)}%`] : [];
  const moved = inBytes(stage) ? [amount(bytes)] : [];
  const count = writing ? [`${formatCount(files.done)} of ${formatCount(files.total)} files`] : [];
  const rest = [...speed(progress, rate), ...(note ? [printable(note)] : [])];
  // On a narrow terminal the count goes first, then the bar: rate and time left are what one waits for.
  const lines = [
    [...bar, ...percent, ...moved, ...count, ...rest],
    [...bar, ...percent, ...moved, ...rest],
    [...percent, ...moved, ...rest],
  ].map((parts) => [stage.padEnd(7), ...parts].join('  '));
  return (lines.find((line) => line.length <= width) ?? lines.at(-1) ?? '').slice(0, width);
}

function plainLine(progress: ProgressUpdate, rate: number | undefined): string {
  const { stage, bytes, files, note } = progress;
  const parts: string[] = [];
  if (inBytes(stage))
    parts.push(
      bytes.total > 0 ? `${Math.floor(share(progress) * 100)}% of ${formatBytes(bytes.total)}` : amount(bytes),
    );
  else if (files.total > 0) parts.push(`${Math.floor(share(progress) * 100)}%`);
  parts.push(...speed(progress, rate));
  if (note) parts.push(printable(note));
  return [stage, ...(parts.length > 0 ? [parts.join(', ')] : [])].join(': ');
}
