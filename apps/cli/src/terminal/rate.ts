const WINDOW_MS = 5000;

/** Speed over the last few seconds: a start from a warm cache is forgotten soon, one slow moment does not show. */
export class Rate {
  readonly #samples: { at: number; done: number }[] = [];

  add(done: number, at: number): void {
    const last = this.#samples.at(-1);
    // A stage that begins again counts from nothing.
    if (last && done < last.done) this.#samples.length = 0;
    this.#samples.push({ at, done });
    while (this.#samples.length > 2 && at - (this.#samples[0]?.at ?? at) > WINDOW_MS) this.#samples.shift();
  }

  /** Per second; undefined before there is anything to divide. */
  get perSecond(): number | undefined {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    if (!first || !last || last.at <= first.at || last.done <= first.done) return undefined;
    return ((last.done - first.done) * 1000) / (last.at - first.at);
  }
}
