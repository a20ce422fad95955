import { createServer } from 'node:net';
import { redisArguments, type TestRedis, type TestRedisOptions } from './redis-options.ts';
import { redisCommand } from './resp.ts';
import { waitFor } from './wait-for.ts';

const IMAGE = 'redis:7-alpine';

/** Redis through testcontainers. Its host port is fixed for the container's life, so that restarts keep the address. */
export async function startContainerRedis(options: TestRedisOptions): Promise<TestRedis> {
  const [{ getContainerRuntimeClient }, { RedisContainer }] = await Promise.all([
    import('testcontainers'),
    import('@testcontainers/redis'),
  ]);
  const client = await getContainerRuntimeClient();
  const started = await new RedisContainer(IMAGE)
    .withCommand(['redis-server', ...redisArguments(options)])
    .withExposedPorts({ container: 6379, host: await freePort() })
    .start();
  const target = { host: started.getHost(), port: started.getPort() };
  const container = client.container.getById(started.getId());
  const answers = (): Promise<unknown> =>
    waitFor(async () => (await redisCommand(target, ['PING'])) === 'PONG', { what: 'Redis in its container' });
  const stop = async (): Promise<void> => void (await started.stop());
  await answers();
  return {
    kind: 'container',
    url: `redis://${target.host}:${target.port}`,
    command: (...words) => redisCommand(target, words),
    flush: async () => void (await redisCommand(target, ['FLUSHALL'])),
    kill9: async () => void (await container.kill({ signal: 'SIGKILL' })),
    shutdown: async () => void (await container.stop()),
    start: async () => {
      await container.start();
      await answers();
    },
    freeze: async (on) => void (await (on ? container.pause() : container.unpause())),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, () => {
      const address = server.address();
      server.close(() => {
        if (address && typeof address === 'object') resolve(address.port);
        else reject(new Error('no free port'));
      });
    });
  });
}
