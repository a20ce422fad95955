import { describe, expect, it } from '@jest/globals';
import { redisOptions } from '../../src/redis/redis.ts';

describe('redisOptions', () => {
  it.each([
    ['redis://h', { host: 'h', port: 6379 }],
    ['redis://u:p%40ss@[::1]:7/3', { host: '::1', port: 7, db: 3, username: 'u', password: 'p@ss' }],
    ['rediss://h', { host: 'h', tls: { servername: 'h' } }],
    ['unix:///run/a%20b/s', { path: '/run/a b/s' }],
    ['/run/s', { path: '/run/s' }],
  ])('reads %s', (url, expected) => {
    expect(redisOptions(url)).toMatchObject(expected);
  });

  it('refuses anything else', () => {
    expect(() => redisOptions('http://h')).toThrow(TypeError);
  });

  it('waits without end as a worker, fails soon as a command, and is never away for longer than a second', () => {
    expect(redisOptions('/s', 'worker')).toMatchObject({ maxRetriesPerRequest: null });
    expect(redisOptions('/s', 'worker')).not.toHaveProperty('commandTimeout');
    expect(redisOptions('/s', 'command')).toMatchObject({ maxRetriesPerRequest: 1, commandTimeout: 3000 });
    const { retryStrategy } = redisOptions('/s');
    expect([1, 2, 5, 100, 10_000].map(retryStrategy)).toEqual([100, 200, 1000, 1000, 1000]);
  });
});
