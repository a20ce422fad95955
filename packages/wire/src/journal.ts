import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Validator } from './headers.ts';

const NAME = 'journal.json';

/** What the next attempt, or another process, has to know of a download. Holds no credentials and no query. */
export interface Journal {
  readonly v: 1;
  /** SHA-256 of the address as it is asked for. */
  readonly key: string;
  /** The address for people. */
  readonly url: string;
  /** Name of the file that the bytes are in. */
  readonly file: string;
  readonly validator: Validator | undefined;
  /** Announced size. */
  readonly size: number | undefined;
  /** Bytes that are certainly on disk, from the front. */
  readonly have: number;
  /** Boot of the machine in which the file was written: within it, every byte of the file counts. */
  readonly boot: string;
  readonly complete: boolean;
  /** Requests so far, and how many of the last ones brought nothing new. */
  readonly tries: number;
  readonly fruitless: number;
  /** The most bytes that any try came to. */
  readonly best: number;
  /** Bytes of bodies received, over all tries. */
  readonly received: number;
  /** Milliseconds since the epoch before which the source wants no request. */
  readonly notBefore: number;
}

/** @returns undefined where there is none that can be used: then everything is fetched again. */
export async function readJournal(dir: string, key: string): Promise<Journal | undefined> {
  const text = await readFile(join(dir, NAME), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isJournal(value) && value.key === key ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whole or not at all. The directory need not be gone while it is written: then whoever took it over has it. */
export async function writeJournal(dir: string, journal: Journal): Promise<void> {
  const part = join(dir, `${NAME}.part`);
  {
    await using file = await open(part, 'w', 0o600);
    await file.writeFile(JSON.stringify(journal));
    await file.datasync();
  }
  await rename(part, join(dir, NAME));
}

function isJournal(value: unknown): value is Journal {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { v, key, file, have, boot, validator, size, ...facts } = value as Record<string, unknown>;
  const counts = [have, facts.tries, facts.fruitless, facts.best, facts.received, facts.notBefore];
  return (
    v === 1 &&
    typeof key === 'string' &&
    typeof file === 'string' &&
    /^data\.[0-9a-f]{8}$/.test(file) &&
    typeof boot === 'string' &&
    typeof facts.complete === 'boolean' &&
    (size === undefined || isCount(size)) &&
    (validator === undefined || isValidator(validator)) &&
    counts.every(isCount)
  );
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isValidator(value: unknown): value is Validator {
  return (
    typeof value === 'object' &&
    value !== null &&
    'kind' in value &&
    (value.kind === 'etag' || value.kind === 'last-modified') &&
    'value' in value &&
    typeof value.value === 'string'
  );
}
