import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What was done to the services, how often, and how it ended: printed at the end of a suite and kept in `.cache`. */
export class FaultTable {
  readonly #suite: string;
  readonly #rows = new Map<string, { times: number; outcomes: Map<string, number> }>();

  constructor(suite: string) {
    this.#suite = suite;
  }

  add(what: string, outcome: string): void {
    const row = this.#rows.get(what) ?? { times: 0, outcomes: new Map<string, number>() };
    row.times += 1;
    row.outcomes.set(outcome, (row.outcomes.get(outcome) ?? 0) + 1);
    this.#rows.set(what, row);
  }

  /** Written where a person finds it after the run: `.cache/faults/<suite>.md`. */
  write(): string {
    const lines = [...this.#rows].map(([what, { times, outcomes }]) => {
      const ended = [...outcomes].map(([outcome, count]) => (count === times ? outcome : `${count} x ${outcome}`));
      return `| ${what} | ${times} | ${ended.join('; ')} |`;
    });
    const text = ['| what | times | outcome |', '| --- | --- | --- |', ...lines, ''].join('\n');
    const path = fileURLToPath(new URL(`../../.cache/faults/${this.#suite}.md`, import.meta.url));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return text;
  }
}
