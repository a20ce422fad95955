import { readFile } from 'node:fs/promises';
import { HgError } from '@quicksilver/hg-types';
import type { WriteReceipt } from '@quicksilver/stream-clone';
import { hasErrno } from './durable.ts';
import type { CloneWrite } from './fences.ts';
import type { FetchReceipt } from './fetch.ts';
import { isCount, isObject, isTask } from './lane/record.ts';
import type { Proof } from './proof/prove.ts';
import type { BundleFile } from './source.ts';
import type { TaskRef } from './task-ref.ts';

const VERSION = 1;

/** A source as it may be told to anyone. */
export type ReceiptSource = (BundleFile & { readonly size: number }) | ({ readonly kind: 'bundle-url' } & FetchReceipt);

/** What is known about a generation, kept beside it for as long as it exists. The shape is versioned. */
export interface Receipt {
  readonly v: 1;
  readonly mirror: string;
  readonly generation: number;
  readonly task: TaskRef;
  readonly fence: number;
  readonly engine: { readonly name: 'quicksilver'; readonly version: string };
  readonly source: ReceiptSource;
  /** The rung of the clone ladder that was taken, and why the ones above it were not. */
  readonly method: { readonly name: WriteReceipt['method']; readonly why: string };
  readonly proof: Proof;
  readonly write: CloneWrite;
  /** Whether the file system was flushed before this was shown. */
  readonly flushed: boolean;
  readonly warnings: readonly string[];
  readonly times: {
    readonly proved: string;
    readonly flushed?: string | undefined;
    /** Written just before the link is renamed; from then on the generation before it is superseded. */
    readonly published: string;
  };
}

/** All but the number and the moment, which are known only under the lane's lock. */
export type ReceiptDraft = Omit<Receipt, 'generation' | 'times'> & {
  readonly times: Omit<Receipt['times'], 'published'>;
};

export function encodeReceipt(receipt: Receipt): string {
  return `${JSON.stringify(receipt, null, 1)}\n`;
}

/**
 * @returns undefined where there is none.
 * @throws HgError HG_CORRUPT for what is no receipt, HG_UNSUPPORTED for one of a newer version.
 */
export async function readReceipt(path: string): Promise<Receipt | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (err) {
    if (hasErrno(err, 'ENOENT')) return undefined;
    throw err;
  }
  const value = parseJson(text);
  if (isObject(value) && isCount(value.v) && value.v > VERSION) {
    throw new HgError('HG_UNSUPPORTED', 'the receipt was written by a newer version', { file: path, version: value.v });
  }
  if (!isReceipt(value)) throw new HgError('HG_CORRUPT', 'the receipt of a generation cannot be read', { file: path });
  return value;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Checks what decisions rest on; the rest is for people, and was written by us. */
function isReceipt(value: unknown): value is Receipt {
  return (
    isObject(value) &&
    value.v === VERSION &&
    typeof value.mirror === 'string' &&
    isCount(value.generation) &&
    isTask(value.task) &&
    isCount(value.fence) &&
    isObject(value.source) &&
    isObject(value.proof) &&
    isObject(value.write) &&
    isObject(value.times) &&
    typeof value.times.published === 'string'
  );
}
