import { lstat, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { HgError } from '@quicksilver/hg-types';
import { z } from 'zod';
import type { Mirror } from './api-client.ts';

/** Of a receipt, what the demo shows and checks. */
const Receipt = z.object({
  generation: z.int(),
  write: z.object({ files: z.int(), bytes: z.int(), seconds: z.number() }),
  proof: z.object({
    level: z.string(),
    checks: z.array(z.string()),
    changesets: z.int(),
    heads: z.object({ count: z.int(), nodes: z.array(z.string()) }),
  }),
  flushed: z.boolean(),
});

export interface Published {
  readonly mirror: string;
  readonly generation: number;
  /** Of the mirror: what hg and web servers are given. */
  readonly path: string;
  readonly receiptPath: string;
  readonly files: number;
  readonly bytes: number;
  /** That the writing took. */
  readonly seconds: number;
  readonly changesets: number;
  readonly heads: readonly string[];
  readonly proof: { readonly level: string; readonly checks: number };
  readonly flushed: boolean;
}

/**
 * Looks at the disk, not at what the API says about it: the link leads to the generation of the receipt, and the files
 * there are as many and as large as the receipt says.
 */
export async function checkPublished(mirror: Mirror): Promise<Published> {
  const { name, path, generation } = mirror;
  if (path === null || generation === null) throw wrong('the mirror has no path', { state: mirror.state });
  const { write, proof, flushed, generation: received } = Receipt.parse(mirror.receipt);
  const root = await realpath(path);
  if (received !== generation || !root.endsWith(`/${generation}`)) {
    throw wrong('the link does not lead to the generation of the receipt', {
      leads: root,
      generation,
      receipt: received,
    });
  }
  const found = await tally(join(root, '.hg'));
  if (found.files < write.files || found.bytes < write.bytes) {
    throw wrong('files are missing that the receipt counts', {
      files: found.files,
      bytes: found.bytes,
      'files wanted': write.files,
      'bytes wanted': write.bytes,
    });
  }
  return {
    mirror: name,
    generation,
    path,
    receiptPath: `${root}.json`,
    ...write,
    changesets: proof.changesets,
    heads: proof.heads.nodes,
    proof: { level: proof.level, checks: proof.checks.length },
    flushed,
  };
}

function wrong(message: string, where: Record<string, string | number>): HgError {
  return new HgError('HG_UNPROVED', message, where);
}

async function tally(folder: string): Promise<{ files: number; bytes: number }> {
  let files = 0;
  let bytes = 0;
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    files += 1;
    bytes += (await lstat(join(entry.parentPath, entry.name))).size;
  }
  return { files, bytes };
}
