import type { Readable } from 'node:stream';
import type { Logger } from 'pino';

const MAX_LINE = 2000;
const MAX_LINES_PER_SECOND = 20;

/**
 * What an engine process prints goes to the service's log, line by line, within bounds: a crash report has to be
 * readable there, a flood must fill neither the log nor memory.
 */
export function logOutput(stream: Readable, logger: Logger, level: 'warn' | 'debug'): void {
  let rest = '';
  let second = 0;
  let lines = 0;
  let dropped = 0;
  const say = (line: string) => {
    const now = Math.floor(Date.now() / 1000);
    if (now !== second) {
      if (dropped > 0) logger[level]({ dropped }, 'engine output left out');
      second = now;
      lines = 0;
      dropped = 0;
    }
    lines += 1;
    if (lines > MAX_LINES_PER_SECOND) dropped += 1;
    else logger[level]({ output: line.slice(0, MAX_LINE) }, 'engine output');
  };
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = (parts.pop() ?? '').slice(0, MAX_LINE);
    for (const part of parts) if (part !== '') say(part);
  });
  stream.on('end', () => {
    if (rest !== '') say(rest);
    if (dropped > 0) logger[level]({ dropped }, 'engine output left out');
  });
  stream.on('error', () => {});
}
