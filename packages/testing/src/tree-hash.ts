import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';

export interface TreeEntry {
  /** Path below the root, with `/`. */
  readonly name: string;
  readonly type: 'file' | 'dir' | 'link' | 'other';
  readonly mode: number;
  /** SHA-256 of a file's bytes, the target of a link, '' else. */
  readonly content: string;
}

/** Everything below `root`, sorted by name. */
export async function treeEntries(root: string): Promise<TreeEntry[]> {
  const names = await readdir(root, { recursive: true });
  return Promise.all(names.sort().map((name) => describeEntry(root, name)));
}

async function describeEntry(root: string, name: string): Promise<TreeEntry> {
  const path = join(root, name);
  const stat = await lstat(path);
  const mode = stat.mode & 0o7777;
  if (stat.isFile()) {
    const content = createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
    return { name, type: 'file', mode, content };
  }
  if (stat.isSymbolicLink()) return { name, type: 'link', mode, content: await readlink(path) };
  return { name, type: stat.isDirectory() ? 'dir' : 'other', mode, content: '' };
}

/** One digest over names, types, modes and contents of a tree: equal trees, equal digests. Times do not count. */
export async function treeHash(root: string): Promise<string> {
  const hash = createHash('sha256');
  for (const entry of await treeEntries(root)) {
    hash.update(JSON.stringify([entry.name, entry.type, entry.mode, entry.content]));
  }
  return hash.digest('hex');
}
