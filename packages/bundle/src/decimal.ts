import type { Where } from '@quicksilver/bytes';
import { HgError, printable } from '@quicksilver/hg-types';

const DIGITS = /^[0-9]+$/;

/** Digits and nothing else. `where`, asked for on failure only, says which number it is. */
export function readDecimal(text: string, what: string, where: () => Where): number {
  const value = DIGITS.test(text) ? Number(text) : Number.NaN;
  if (value <= Number.MAX_SAFE_INTEGER) return value;
  const facts = { ...where(), value: printable(text) };
  if (Number.isNaN(value)) throw new HgError('HG_CORRUPT', `${what} is not a number`, facts);
  throw new HgError('HG_LIMIT', `${what} is too large`, facts);
}
