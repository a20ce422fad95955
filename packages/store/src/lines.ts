import { latin1Text } from '@quicksilver/bytes';

/** Lines of a small text file, one character per byte; a final line feed ends the last line and begins no other. */
export function textLines(content: Uint8Array | string): string[] {
  const text = typeof content === 'string' ? content : latin1Text(content);
  if (text === '') return [];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
