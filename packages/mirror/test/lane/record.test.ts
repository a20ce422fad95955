import { describe, expect, it } from '@jest/globals';
import { faultRecord, HgError } from '@quicksilver/hg-types';
import { boundedProblem, decodeRecord, encodeRecord, type LaneRecord } from '../../src/lane/record.ts';

const record: LaneRecord = {
  v: 1,
  mirror: 'm',
  task: { id: 'a', number: 1 },
  action: 'clone',
  fence: 1,
  state: 'writing',
  lastGeneration: 0,
  boot: 'b',
  host: 'h',
  at: '2026-01-01T00:00:00.000Z',
};

describe('the record of a lane', () => {
  it('comes back as it went in', () => {
    expect(decodeRecord(encodeRecord(5, record), 'lane')).toEqual({ seq: 5, record });
  });

  it('is not believed when a fact that decides is missing or wrong', () => {
    const wrong: Partial<Record<keyof LaneRecord, unknown>>[] = [
      { v: 0 },
      { mirror: 1 },
      { task: 'a' },
      { task: { id: 'a', number: -1 } },
      { action: 'drop' },
      { fence: 1.5 },
      { state: 'done' },
      { state: 'settled', outcome: undefined },
      { lastGeneration: null },
      { boot: undefined },
    ];
    for (const change of wrong) {
      const text = JSON.stringify({ seq: 1, record: { ...record, ...change } });
      expect(() => decodeRecord(text, 'lane')).toThrow(expect.objectContaining({ code: 'HG_IO' }));
    }
  });

  it('keeps a problem small enough for its slot, whatever the bundle put into it', () => {
    for (const letter of ['x', '源', '\u0001', '\ud800', '"']) {
      const where = Object.fromEntries(
        Array.from({ length: 50 }, (_, i) => [`${i}${letter.repeat(500)}`, letter.repeat(5000)]),
      );
      const fault = faultRecord(new HgError('HG_CORRUPT', letter.repeat(5000), where));
      const problem = boundedProblem({ ...fault, stage: 'write' });
      expect(problem).toMatchObject({ code: 'HG_CORRUPT', class: 'format', stage: 'write', retryable: false });
      expect(Buffer.byteLength(JSON.stringify(problem))).toBeLessThan(10_000);
    }
  });
});
