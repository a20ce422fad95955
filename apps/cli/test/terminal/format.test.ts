import { describe, expect, it } from '@jest/globals';
import { formatBytes, formatCount, formatDuration, plural } from '../../src/terminal/format.ts';

describe('sizes, times and counts', () => {
  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1.00 kB'],
    [4_973_174, '4.97 MB'],
    [9_996_000, '10.0 MB'],
    [99_960_000, '100 MB'],
    [999_600, '1.00 MB'],
    [1_500_000_000_000, '1.50 TB'],
  ])('%d bytes read as %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text));

  it.each([
    [0.314, '0.31 s'],
    [0.999, '1.0 s'],
    [9.96, '10 s'],
    [59.7, '1:00'],
    [185, '3:05'],
    [3723, '1:02:03'],
  ])('%d seconds read as %s', (seconds, text) => expect(formatDuration(seconds)).toBe(text));

  it('groups counts and knows the singular', () => {
    expect(formatCount(48_900)).toBe('48,900');
    expect([plural(1, 'file'), plural(2, 'file'), plural(0, 'head')]).toEqual(['1 file', '2 files', '0 heads']);
  });
});
