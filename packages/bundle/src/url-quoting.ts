import { latin1Bytes } from '@quicksilver/bytes';

/**
 * Undoes `%XX` byte by byte; a `%` without two hexadecimal digits stands for itself, as in stock hg. The result is a
 * string of bytes (one character each) and nothing is taken for UTF-8.
 */
export function unquote(text: string): string {
  return text.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Quotes all but letters, digits and `_.-~/`, which is what stock hg leaves as it is. */
export function quote(text: string): string {
  return Array.from(latin1Bytes(text), (byte) => {
    const char = String.fromCharCode(byte);
    return /[A-Za-z0-9_.\-~/]/.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');
}
