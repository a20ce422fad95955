import { printable } from '@quicksilver/hg-types';

/** What of a service's JSON log line a terminal needs. */
export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

const USUAL = new Set(['level', 'time', 'service', 'pid', 'hostname', 'msg', 'context', 'job']);
/** Worth a word only from the second time on. */
const COUNTS = new Set(['attempt', 'starts', 'flow']);

/** Undefined: not a line of ours (a crash's last words, or Redis'). */
export function parseLogLine(text: string): LogLine | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const { level, msg, ...fields }: Record<string, unknown> = JSON.parse(text);
    if (typeof level !== 'string') return undefined;
    return { level, message: typeof msg === 'string' ? msg : '', fields };
  } catch {
    return undefined;
  }
}

const LOUD = new Set(['warn', 'error', 'fatal']);

export function isLoud(line: LogLine): boolean {
  return LOUD.has(line.level);
}

/** What concerns a mirror. The rest is in the log file. */
export function isOfTask(line: LogLine): boolean {
  return line.level === 'info' && 'mirror' in line.fields;
}

/** `12:03:04 writer  warn  message  key=value` */
export function terminalLine(service: string, line: LogLine, now: Date): string {
  const facts = Object.entries(line.fields)
    .filter(([key, value]) => !USUAL.has(key) && !(COUNTS.has(key) && value === 1))
    .map(([key, value]) => `${key}=${brief(value)}`);
  const level = line.level === 'info' ? '' : `${line.level}: `;
  const text = `${clockTime(now)} ${service.padEnd(6)} ${level}${oneLine(line.message)}  ${facts.join(' ')}`;
  return printable(text.trimEnd());
}

/** A list of several lines, such as that of settings at fault, as one. */
export function oneLine(message: string): string {
  return message.trim().replaceAll(/\s*\n\s*/g, ' ');
}

function brief(value: unknown): string {
  if (typeof value === 'object' && value !== null) {
    // Errors are logged as objects with a stack: their message is enough here.
    if ('message' in value && typeof value.message === 'string') return value.message;
    return JSON.stringify(value).slice(0, 120);
  }
  return String(value).slice(0, 200);
}

export function clockTime(now: Date): string {
  return now.toTimeString().slice(0, 8);
}
