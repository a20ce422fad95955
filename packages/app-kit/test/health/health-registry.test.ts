import { describe, expect, it } from '@jest/globals';
import { HealthRegistry } from '../../src/health/health-registry.ts';
import { LoopMonitor } from '../../src/health/loop-monitor.ts';
import { volumeCheck } from '../../src/health/volume-check.ts';

describe('HealthRegistry', () => {
  it('counts a check of readiness in readiness alone', async () => {
    const health = new HealthRegistry();
    health.register('works', () => ({ ok: true }), 'health');
    const remove = health.register('redis', () => ({ ok: false, reason: 'away' }), 'ready');
    expect(await health.report('health')).toEqual({ status: 'ok', checks: { works: { ok: true } } });
    expect(await health.report('ready')).toMatchObject({ status: 'failing', checks: { redis: { reason: 'away' } } });
    remove();
    expect((await health.report('ready')).status).toBe('ok');
  });

  it('takes a check that throws or does not answer for failed', async () => {
    const health = new HealthRegistry();
    health.register('throws', () => {
      throw new Error('broken');
    });
    health.register('hangs', () => new Promise(() => {}));
    expect((await health.report('health')).checks).toEqual({
      throws: { ok: false, reason: 'broken' },
      hangs: { ok: false, reason: 'no answer in time' },
    });
  });

  it('refuses two checks of one name', () => {
    const health = new HealthRegistry();
    health.register('a', () => ({ ok: true }));
    expect(() => health.register('a', () => ({ ok: true }))).toThrow('twice');
  });
});

describe('LoopMonitor', () => {
  it('tells how long the loop was held up since the last read', async () => {
    using loop = new LoopMonitor();
    await new Promise((resolve) => setTimeout(resolve, 50));
    loop.read();
    await new Promise((resolve) => setTimeout(resolve, 30));
    const end = Date.now() + 80;
    while (Date.now() < end);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(loop.read().max).toBeGreaterThan(50);
  });
});

describe('volumeCheck', () => {
  it('says what is wrong with a volume', async () => {
    const open = async (path: string) => {
      if (path === '/gone') throw Object.assign(new Error('x'), { code: 'HG_NOT_FOUND', message: 'no volume' });
      return { name: 'main' };
    };
    const check = volumeCheck(open);
    expect(await check({ name: 'main', path: '/a' })).toEqual({ ok: true });
    expect(await check({ name: 'other', path: '/a' })).toMatchObject({ reason: expect.stringContaining('"main"') });
    expect(await check({ name: 'main', path: '/gone' })).toMatchObject({ ok: false });
  });

  it('asks a hung mount once, however often it is asked itself', async () => {
    let asked = 0;
    const check = volumeCheck(() => {
      asked += 1;
      return new Promise(() => {});
    });
    void check({ name: 'main', path: '/a' });
    void check({ name: 'main', path: '/a' });
    await Promise.resolve();
    expect(asked).toBe(1);
  });
});
