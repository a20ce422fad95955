const MAX_KEPT = 100;
const MAX_LENGTH = 500;

/** What a person should know although it stopped nothing. Bounded: the input decides how much there is to say. */
export class Warnings {
  readonly #kept = new Set<string>();
  #more = 0;

  add(text: string): void {
    const short = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}...` : text;
    if (this.#kept.has(short)) return;
    if (this.#kept.size < MAX_KEPT) this.#kept.add(short);
    else this.#more++;
  }

  get list(): readonly string[] {
    return this.#more === 0 ? [...this.#kept] : [...this.#kept, `... and ${this.#more} more warnings`];
  }
}
