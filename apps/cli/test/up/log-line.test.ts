import { describe, expect, it } from '@jest/globals';
import { isLoud, isOfTask, parseLogLine, terminalLine } from '../../src/up/log-line.ts';

const line = (fields: object) =>
  JSON.stringify({ level: 'info', time: 'x', service: 's', pid: 1, msg: 'hello', ...fields });
const shown = (fields: object) => {
  const parsed = parseLogLine(line(fields));
  return parsed && (isLoud(parsed) || isOfTask(parsed));
};

describe('log lines on the terminal', () => {
  it('are warnings, errors and what concerns a mirror', () => {
    expect(shown({ level: 'warn' })).toBe(true);
    expect(shown({ level: 'fatal' })).toBe(true);
    expect(shown({ mirror: 'a/b' })).toBe(true);
    expect(shown({})).toBe(false);
    expect(shown({ level: 'debug', mirror: 'a/b' })).toBe(false);
  });

  it('are not mistaken in the last words of a crash or in what Redis says', () => {
    expect(parseLogLine('{ code: "MODULE_NOT_FOUND" }')).toBeUndefined();
    expect(parseLogLine('12:M # Server initialized')).toBeUndefined();
  });

  it('are short, name their service and cannot drive a terminal', () => {
    const parsed = parseLogLine(line({ level: 'error', err: { message: 'no \x1b[2Jroom', stack: 'Error\n at x' } }));
    if (!parsed) throw new Error('not parsed');
    const text = terminalLine('writer', parsed, new Date(2026, 0, 2, 3, 4, 5));
    expect(text).toBe('03:04:05 writer error: hello  err=no \\x1b[2Jroom');
  });
});
