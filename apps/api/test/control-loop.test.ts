import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { createLogger } from '@quicksilver/app-kit';
import { ControlLoop } from '../src/control/control-loop.ts';

const logger = createLogger('api', 'silent');

describe('the control loop', () => {
  it('says which of its duties fail, also while it goes round as it should, and that they work again', async () => {
    let broken = true;
    let admitted = 0;
    await using loop = new ControlLoop({
      admit: async () => {
        admitted += 1;
      },
      duties: {
        reconcile: async () => {
          if (broken) throw new Error('the database is full');
        },
      },
      interval: 10,
      logger,
    });
    expect(loop.checkDuties()).toEqual({ ok: true });
    loop.start();
    await sleep(50);
    expect(loop.check()).toEqual({ ok: true });
    expect(loop.checkDuties()).toEqual({ ok: false, reason: expect.stringContaining('reconcile') });
    expect(admitted).toBeGreaterThan(1);
    broken = false;
    await sleep(50);
    expect(loop.checkDuties()).toEqual({ ok: true });
  });
});
