import { printable } from '@quicksilver/hg-types';
import { MAX_OUTPUT_TEXT } from './layout.ts';
import type { PartConsumer } from './part-consumer.ts';

/**
 * The text of an `output` part, line by line, with control characters escaped: it comes from the other side and ends
 * on somebody's terminal. What is over the limit is dropped, for it is only talk.
 */
export class OutputText implements PartConsumer {
  readonly #line: (text: string) => void;
  readonly #held = new Uint8Array(MAX_OUTPUT_TEXT);
  #size = 0;

  constructor(line: (text: string) => void) {
    this.#line = line;
  }

  data(bytes: Uint8Array): void {
    const kept = bytes.subarray(0, MAX_OUTPUT_TEXT - this.#size);
    this.#held.set(kept, this.#size);
    this.#size += kept.length;
  }

  end(): void {
    const text = new TextDecoder().decode(this.#held.subarray(0, this.#size));
    const lines = text.split('\n');
    if (lines.at(-1) === '') lines.pop();
    for (const line of lines) this.#line(printable(line));
  }
}
