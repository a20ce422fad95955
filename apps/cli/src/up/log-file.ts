import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';

const ROTATE_BYTES = 16 * 1024 * 1024;
const TAIL_LINES = 8;

/**
 * A child's log: appended, one old file kept. A disk that is full must not end the supervisor, so failed writes are
 * counted as lost and the rest goes on. The last lines stay in memory, for the report when a child dies.
 */
export class LogFile implements Disposable {
  readonly path: string;
  readonly #tail: string[] = [];
  #fd: number | undefined;
  #size = 0;

  constructor(path: string) {
    this.path = path;
    this.#open();
  }

  get tail(): readonly string[] {
    return this.#tail;
  }

  line(text: string): void {
    this.#tail.push(text);
    if (this.#tail.length > TAIL_LINES) this.#tail.shift();
    try {
      if (this.#size > ROTATE_BYTES) this.#rotate();
      if (this.#fd !== undefined) this.#size += writeSync(this.#fd, `${text}\n`);
    } catch {
      // Lost; what happened is still on the terminal.
    }
  }

  [Symbol.dispose](): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #open(): void {
    this.#fd = openSync(this.path, 'a');
    this.#size = fstatSync(this.#fd).size;
  }

  #rotate(): void {
    this[Symbol.dispose]();
    renameSync(this.path, `${this.path}.1`);
    this.#open();
  }
}
