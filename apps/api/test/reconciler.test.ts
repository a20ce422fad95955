import { describe, expect, it } from '@jest/globals';
import { renewalPause } from '../src/control/reconciler.ts';

describe('the pause before a flow is replaced', () => {
  it('K043: grows while a close fails again and again, from the grace to thirty times as long', () => {
    const pauses = [1, 2, 3, 5, 6, 1000].map((flow) => renewalPause('failed', flow, 10_000));
    expect(pauses).toEqual([10_000, 20_000, 40_000, 160_000, 300_000, 300_000]);
  });

  it('stays the grace for a flow that Redis lost', () => {
    expect([1, 7].map((flow) => renewalPause('missing', flow, 10_000))).toEqual([10_000, 10_000]);
  });
});
