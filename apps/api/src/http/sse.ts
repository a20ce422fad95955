import type { Response } from 'express';

export interface SseEvent {
  readonly event: string;
  readonly id?: string;
  readonly data: unknown;
}

/** A client that does not read is let go when this much waits for it (bytes). */
const MAX_WAITING = 256 * 1024;

/** One stream of server-sent events (HTML standard, section "Server-sent events"). */
export class SseStream {
  readonly #response: Response;
  readonly #heartbeat: NodeJS.Timeout;

  constructor(response: Response, heartbeatMs: number) {
    this.#response = response;
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      // Proxies that buffer would hold events back.
      'x-accel-buffering': 'no',
    });
    this.#write('retry: 2000\n\n');
    this.#heartbeat = setInterval(() => this.#write(': alive\n\n'), heartbeatMs);
    this.onClose(() => clearInterval(this.#heartbeat));
  }

  get open(): boolean {
    return !this.#response.writableEnded && !this.#response.destroyed;
  }

  onClose(closed: () => void): void {
    if (this.open) this.#response.once('close', closed);
    else closed();
  }

  send({ event, id, data }: SseEvent): void {
    const idLine = id === undefined ? '' : `id: ${id}\n`;
    // JSON holds no line breaks, so that one data line is enough.
    this.#write(`event: ${event}\n${idLine}data: ${JSON.stringify(data)}\n\n`);
  }

  end(): void {
    clearInterval(this.#heartbeat);
    if (this.open) this.#response.end();
  }

  #write(text: string): void {
    if (!this.open) return;
    if (this.#response.writableLength > MAX_WAITING) {
      this.#response.destroy();
      return;
    }
    this.#response.write(text);
  }
}
