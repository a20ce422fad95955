import { startContainerRedis } from './redis-container.ts';
import { startLocalRedis } from './redis-local.ts';
import type { TestRedis, TestRedisOptions } from './redis-options.ts';

/**
 * A real Redis for a test. TEST_REDIS=local spawns `redis-server`; TEST_REDIS=container demands a container engine;
 * unset takes a container where an engine answers and a spawned server elsewhere.
 */
export async function startRedis(options: TestRedisOptions = {}): Promise<TestRedis> {
  const wanted = process.env.TEST_REDIS;
  switch (wanted) {
    case 'local':
      return startLocalRedis(options);
    case 'container':
      return startContainerRedis(options);
    case undefined:
    case '':
      return (await engineAnswers()) ? startContainerRedis(options) : startLocalRedis(options);
    default:
      throw new Error(`TEST_REDIS is "${wanted}": expected "local", "container" or nothing`);
  }
}

let engine: Promise<boolean> | undefined;

/** testcontainers' own look for Docker, Podman and the like; it fails in milliseconds where there is none. */
function engineAnswers(): Promise<boolean> {
  engine ??= import('testcontainers')
    .then(({ getContainerRuntimeClient }) => getContainerRuntimeClient())
    .then(
      () => true,
      () => false,
    );
  return engine;
}
