import { EventEmitter } from 'node:events';
import { describe, expect, it, jest } from '@jest/globals';
import type { Response } from 'express';
import { SseStream } from '../src/http/sse.ts';

/** A connection whose other end does not read. */
class StuckResponse extends EventEmitter {
  writableLength = 0;
  writableEnded = false;
  destroyed = false;
  writeHead(): void {}
  write(text: string): void {
    this.writableLength += text.length;
  }
  end(): void {
    this.writableEnded = true;
    this.emit('close');
  }
  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

describe('an event stream', () => {
  it('lets go of a client that does not read, with bounded memory', () => {
    const response = new StuckResponse();
    const stream = new SseStream(response as unknown as Response, 60_000);
    let closed = false;
    stream.onClose(() => {
      closed = true;
    });
    const data = 'x'.repeat(1000);
    for (let count = 0; count < 10_000; count += 1) stream.send({ event: 'progress', data });
    expect({ closed, open: stream.open }).toEqual({ closed: true, open: false });
    expect(response.writableLength).toBeLessThan(300_000);
  });

  it('keeps no timer for a client that went before its stream began', () => {
    jest.useFakeTimers();
    try {
      const response = new StuckResponse();
      response.destroy();
      const stream = new SseStream(response as unknown as Response, 60_000);
      expect({ open: stream.open, timers: jest.getTimerCount() }).toEqual({ open: false, timers: 0 });
    } finally {
      jest.useRealTimers();
    }
  });

  it('writes one event as one block, line breaks in data escaped', () => {
    const response = new StuckResponse();
    const written: string[] = [];
    response.write = (text: string) => void written.push(text);
    const stream = new SseStream(response as unknown as Response, 60_000);
    stream.send({ event: 'state', id: '1', data: { text: 'a\n\nevent: fake' } });
    stream.end();
    expect(written.at(-1)).toBe('event: state\nid: 1\ndata: {"text":"a\\n\\nevent: fake"}\n\n');
  });
});
