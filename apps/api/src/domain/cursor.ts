import { ApiProblem } from './problem.ts';

/** Cursors are opaque to clients: a position, in base64url. */
export function writeCursor(position: string | number): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

export function readNameCursor(cursor: string | undefined): string | undefined {
  return readCursor(cursor, (value): value is string => typeof value === 'string');
}

export function readNumberCursor(cursor: string | undefined): number | undefined {
  return readCursor(cursor, (value): value is number => typeof value === 'number' && Number.isSafeInteger(value));
}

function readCursor<T extends string | number>(
  cursor: string | undefined,
  fits: (value: unknown) => value is T,
): T | undefined {
  if (cursor === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (fits(value)) return value;
  } catch {
    // Falls through to the refusal: it is no cursor of ours.
  }
  const message = 'this is not a cursor of this list';
  throw new ApiProblem('HG_USAGE', message, {
    errors: [{ field: 'cursor', message }],
    advice: 'Give "next" of the page before, unchanged; without a cursor the list begins.',
  });
}
