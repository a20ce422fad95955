/** Close counts as slow when the median of so many is over so many milliseconds. */
const WINDOW = 64;
export const SLOW_CLOSE = 0.2;

/** Watches how long the last closes took. */
export class SlowGauge {
  readonly #times = new Float64Array(WINDOW);
  #seen = 0;
  #slow = 0;

  add(milliseconds: number): void {
    const at = this.#seen % WINDOW;
    if (this.#seen >= WINDOW && (this.#times[at] ?? 0) > SLOW_CLOSE) this.#slow--;
    this.#times[at] = milliseconds;
    if (milliseconds > SLOW_CLOSE) this.#slow++;
    this.#seen++;
  }

  /** `undefined` until there are enough of them. */
  get verdict(): 'slow' | 'fast' | undefined {
    if (this.#seen < WINDOW) return undefined;
    return this.#slow > WINDOW / 2 ? 'slow' : 'fast';
  }

  /** Of the last ones, 64 at most; undefined without any. */
  get median(): number | undefined {
    const last = this.#times.slice(0, Math.min(this.#seen, WINDOW)).sort();
    return last[last.length >> 1];
  }

  /** What was seen says nothing about what comes. */
  reset(): void {
    this.#seen = 0;
    this.#slow = 0;
  }
}
