import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startRedis, type TestRedis } from '@quicksilver/testing';
import { Redis } from 'ioredis';
import { createRedis } from '../../src/redis/redis.ts';
import { RedisGuard } from '../../src/redis/redis-guard.ts';
import { memoryLogger } from '../memory-logger.ts';

describe('K073: RedisGuard', () => {
  let server: TestRedis;
  beforeAll(async () => {
    server = await startRedis();
    // What some managed servers do, to the letter: neither CONFIG nor INFO.
    await server.command('ACL', 'SETUSER', 'blind', 'on', 'nopass', '~*', '+@all', '-config', '-info');
    await server.command('ACL', 'SETUSER', 'half', 'on', 'nopass', '~*', '+@all', '-config');
  });
  afterAll(async () => await server.stop());

  const check = async (user: string, override = false) => {
    const redis = createRedis(server.url, 'command');
    const { logger, lines } = memoryLogger();
    try {
      await redis.auth(user, 'any');
      const guard = new RedisGuard({ redis, logger, override });
      const results = [await guard.check(), await guard.check()];
      return { results, warnings: lines.map(({ msg }) => String(msg)) };
    } finally {
      redis.disconnect();
    }
  };

  it.each(['volatile-lru', 'allkeys-random', 'volatile-ttl'])('refuses %s with the reason', async (policy) => {
    await server.command('CONFIG', 'SET', 'maxmemory-policy', policy);
    const { results } = await check('half');
    expect(results[0]).toEqual({ ok: false, reason: expect.stringContaining(policy) });
    await server.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
  });

  it('reads the policy where only CONFIG is forbidden', async () => {
    const { results, warnings } = await check('half');
    expect(results).toEqual([{ ok: true }, { ok: true }]);
    expect(warnings.filter((text) => text.includes('hides'))).toEqual([]);
  });

  it('uses a server that hides its policy under one loud warning, which names the override', async () => {
    const { results, warnings } = await check('blind');
    expect(results).toEqual([{ ok: true }, { ok: true }]);
    expect(warnings.filter((text) => text.includes('QUICKSILVER_REDIS_POLICY_OVERRIDE=1'))).toHaveLength(1);
  });

  it('is silent about a hidden policy when the operator vouches for it', async () => {
    const { warnings } = await check('blind', true);
    expect(warnings.filter((text) => text.includes('hides'))).toEqual([]);
  });

  it('warns of a server that keeps nothing on disk', async () => {
    const { results, warnings } = await check('default');
    expect(results[0]).toEqual({ ok: true });
    expect(warnings).toEqual([expect.stringContaining('keeps nothing on disk')]);
  });

  it('does not call a server ready that answers and has no room for jobs', async () => {
    await server.command('CONFIG', 'SET', 'maxmemory', '1mb');
    const { results } = await check('default');
    await server.command('CONFIG', 'SET', 'maxmemory', '0');
    expect(results[0]).toEqual({ ok: false, reason: expect.stringContaining('memory') });
  });

  it('says so when nobody answers', async () => {
    const redis = new Redis({ path: '/tmp/no-such-socket', maxRetriesPerRequest: 0, retryStrategy: () => null });
    redis.on('error', () => {});
    const guard = new RedisGuard({ redis, logger: memoryLogger().logger, override: false });
    const gone = { ok: false, reason: 'Redis does not answer' };
    expect([await guard.ping(), await guard.check()]).toEqual([gone, gone]);
    redis.disconnect();
  });
});
