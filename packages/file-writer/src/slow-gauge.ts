/** Close counts as slow when the median of so many is over so many milliseconds. */
const WINDOW = 64;
export const SLOW_CLOSE = 0.2;
/** While close is fast it is looked at once in so many times: looking costs nearly as much as such a close. */
const GLANCE = 8;

/** Watches how long the last closes took; while they are fast, a share of them. */
export class SlowGauge {
  readonly #times = new Float64Array(WINDOW);
  #seen = 0;
  #slow = 0;
  #rest = 0;

  /** Whether to time the next close; asked once for each. */
  looksNow(): boolean {
    if (this.#rest === 0) return true;
    this.#rest--;
    return false;
  }

  add(milliseconds: number): void {
    const at = this.#seen % WINDOW;
    if (this.#seen >= WINDOW && (this.#times[at] ?? 0) > SLOW_CLOSE) this.#slow--;
    this.#times[at] = milliseconds;
    if (milliseconds > SLOW_CLOSE) this.#slow++;
    this.#seen++;
    this.#rest = milliseconds <= SLOW_CLOSE && this.verdict === 'fast' ? GLANCE - 1 : 0;
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
    this.#rest = 0;
    this.#slow = 0;
  }
}
