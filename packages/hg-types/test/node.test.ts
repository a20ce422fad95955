import { describe, expect, it } from '@jest/globals';
import { hexNode, isNullNode, nodeFromHex, nullNode } from '../src/node.ts';

describe('nodes', () => {
  it('go to hex and back', () => {
    const hex = '207fcfdf3191000102030405060708090a0b0c0d';
    expect(hexNode(nodeFromHex(hex))).toBe(hex);
    expect(isNullNode(nodeFromHex(hex))).toBe(false);
    expect(isNullNode(nullNode)).toBe(true);
  });

  it.each(['', 'ab', 'g'.repeat(40), '0'.repeat(41)])('refuse %j', (text) => {
    expect(() => nodeFromHex(text)).toThrow(expect.objectContaining({ code: 'HG_CORRUPT' }));
  });
});
