import { describe, expect, it } from '@jest/globals';
import { startRedis } from '../src/redis.ts';

describe('startRedis', () => {
  it('gives an empty, real server that evicts nothing', async () => {
    await using redis = await startRedis();
    expect(await redis.command('DBSIZE')).toBe(0);
    expect(await redis.command('CONFIG', 'GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
    await redis.command('SET', 'a', 'é\r\nb');
    expect(await redis.command('GET', 'a')).toBe('é\r\nb');
    await redis.flush();
    expect(await redis.command('GET', 'a')).toBeNull();
    await expect(redis.command('NONSENSE')).rejects.toThrow(/unknown command/);
  });

  it('keeps what it acknowledged over a kill when the append-only file is on', async () => {
    await using redis = await startRedis({ appendOnly: true });
    await redis.command('SET', 'kept', '1');
    await redis.kill9();
    await expect(redis.command('PING')).rejects.toThrow();
    await redis.start();
    expect(await redis.command('GET', 'kept')).toBe('1');
  });

  it('comes back empty without it, on the same address', async () => {
    await using redis = await startRedis();
    await redis.command('SET', 'lost', '1');
    await redis.kill9();
    await redis.start();
    expect(await redis.command('GET', 'lost')).toBeNull();
  });

  it('takes another eviction policy, and can hide its configuration', async () => {
    await using evicting = await startRedis({ policy: 'allkeys-lru' });
    expect(await evicting.command('CONFIG', 'GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'allkeys-lru']);
    await using hidden = await startRedis({ hideConfig: true });
    await expect(hidden.command('CONFIG', 'GET', 'maxmemory-policy')).rejects.toThrow(/unknown command/);
  });

  it('refuses a TEST_REDIS that it does not know', async () => {
    const before = process.env.TEST_REDIS;
    process.env.TEST_REDIS = 'mock';
    try {
      await expect(startRedis()).rejects.toThrow(/expected "local", "container"/);
    } finally {
      if (before === undefined) delete process.env.TEST_REDIS;
      else process.env.TEST_REDIS = before;
    }
  });
});
