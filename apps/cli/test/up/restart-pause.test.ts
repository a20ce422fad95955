import { expect, it } from '@jest/globals';
import { restartPause } from '../../src/up/child.ts';

it('waits longer after each failure, but never longer than ten seconds', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 1000].map(restartPause)).toEqual([250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
});
