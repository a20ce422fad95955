import { describe, expect, it } from '@jest/globals';
import { decodeFrame, encodeFrame } from '../../src/lane/frame.ts';

describe('a frame', () => {
  const before = encodeFrame('the text that was there before, which is longer');
  const after = encodeFrame('the new text');

  it('gives back its text, whatever lies behind it', () => {
    const slot = Buffer.concat([after, Buffer.from('rest of something longer')]);
    expect(decodeFrame(slot)).toEqual({ kind: 'whole', text: 'the new text' });
  });

  it('is torn, or the old or the new one, at every cut of a write over another', () => {
    for (let cut = 0; cut <= after.length; cut++) {
      const slot = Buffer.concat([after.subarray(0, cut), before.subarray(cut)]);
      const frame = decodeFrame(slot);
      if (frame.kind === 'whole') expect(cut === after.length || slot.equals(before)).toBe(true);
      else expect(frame.kind).toBe('torn');
    }
  });

  it('is torn at every cut of a write into nothing, and empty before', () => {
    for (let cut = 1; cut < after.length; cut++) {
      const slot = Buffer.alloc(after.length);
      after.copy(slot, 0, 0, cut);
      expect(decodeFrame(slot).kind).toBe('torn');
    }
    expect(decodeFrame(Buffer.alloc(64)).kind).toBe('empty');
    expect(decodeFrame(Buffer.alloc(0)).kind).toBe('empty');
  });

  it('refuses a length that goes past its slot', () => {
    const frame = encodeFrame('x');
    frame.writeUInt32BE(0xffff_ffff, 8);
    expect(decodeFrame(frame).kind).toBe('torn');
  });
});
