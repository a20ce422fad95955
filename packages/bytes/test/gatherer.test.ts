import { describe, expect, it } from '@jest/globals';
import { Gatherer } from '../src/index.ts';

describe('Gatherer', () => {
  it('hands out a view when the field lies whole in one piece', () => {
    const piece = Uint8Array.from([1, 2, 3, 4]);
    const gatherer = new Gatherer();
    const field = gatherer.take(piece, 1, 2);
    expect(field?.buffer).toBe(piece.buffer);
    expect([...(field ?? [])]).toEqual([2, 3]);
    expect(gatherer.taken).toBe(2);
  });

  it('brings together a field cut anywhere, and what it handed out stays as it was', () => {
    const source = Uint8Array.from({ length: 300 }, (_, i) => i & 0xff);
    const gatherer = new Gatherer();
    const fields: Uint8Array[] = [];
    for (let at = 0; at < source.length; at += 7) {
      const piece = source.slice(at, at + 7);
      for (let used = 0; used < piece.length; used += gatherer.taken) {
        const field = gatherer.take(piece, used, 100);
        if (field) fields.push(field);
      }
    }
    expect(fields).toEqual([source.slice(0, 100), source.slice(100, 200), source.slice(200)]);
    expect(gatherer.held).toBe(0);
  });

  it('holds only what came, whatever length was announced', () => {
    const gatherer = new Gatherer();
    expect(gatherer.take(new Uint8Array(10), 0, 2 ** 40)).toBeUndefined();
    expect(gatherer.held).toBe(10);
  });
});
