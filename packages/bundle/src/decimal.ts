import { HgError, printable } from '@quicksilver/hg-types';

/** Digits and nothing else; `where` says which number it is. */
export function readDecimal(text: string, message: string, where: Readonly<Record<string, string | number>>): number {
  const facts = { ...where, value: printable(text) };
  if (!/^[0-9]+$/.test(text)) throw new HgError('HG_CORRUPT', `${message} is not a number`, facts);
  const value = Number(text);
  if (value > Number.MAX_SAFE_INTEGER) throw new HgError('HG_LIMIT', `${message} is too large`, facts);
  return value;
}
