import { describe, expect, it } from '@jest/globals';
import { createLogger, loggableUrl, NestLogger } from '../src/logger.ts';

function capture() {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger('writer', 'trace', { write: (line: string) => lines.push(JSON.parse(line)) });
  return { logger, lines };
}

describe('logger', () => {
  it('writes JSON lines with level, time, service and process', () => {
    const { logger, lines } = capture();
    logger.info({ task: 'a' }, 'begins');
    expect(lines).toEqual([
      {
        level: 'info',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        service: 'writer',
        pid: process.pid,
        task: 'a',
        msg: 'begins',
      },
    ]);
  });

  it('K103: never writes a password, whoever passes one', () => {
    const { logger, lines } = capture();
    logger.info({
      password: 'hunter2',
      redis: { password: 'hunter2' },
      req: { headers: { authorization: 'hunter2' } },
    });
    expect(JSON.stringify(lines)).not.toContain('hunter2');
  });

  it('K103: names the command that Redis refused, and not what was sent with it', () => {
    const { logger, lines } = capture();
    const command = { name: 'hello', args: ['3', 'AUTH', 'default', 'hunter2'] };
    logger.warn({ err: Object.assign(new Error('WRONGPASS'), { command }) }, 'Redis connection');
    expect(lines).toMatchObject([{ err: { message: 'WRONGPASS', command: { name: 'hello' } } }]);
    expect(JSON.stringify(lines)).not.toContain('hunter2');
  });

  it.each([
    ['https://user:hunter2@h.example/repo?token=hunter2#hunter2', 'https://h.example/repo'],
    ['ssh://user@h/repo', 'ssh://h/repo'],
    ['/srv/bundle.hg', '/srv/bundle.hg'],
    ['hunter2', '(unreadable address)'],
  ])('K103: shows %s without user info and query', (address, shown) => {
    expect(loggableUrl(address)).toBe(shown);
  });

  it("keeps Nest's errors with their stack and its routine at debug", () => {
    const { logger, lines } = capture();
    const nest = new NestLogger(logger);
    nest.log('started', 'NestFactory');
    nest.error(new Error('boom'), 'stack', 'Ctx');
    expect(lines[0]).toMatchObject({ level: 'debug', msg: 'started', context: 'NestFactory' });
    expect(lines[1]).toMatchObject({ level: 'error', msg: 'boom', context: 'Ctx', err: { type: 'Error' } });
  });
});
