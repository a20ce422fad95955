import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

/** One digest over all revlogs of a repository: their paths and their bytes. Two programs that agree wrote the same. */
export function storeDigest(repository: string): string {
  const store = `${repository}/.hg/store/`;
  const names = readdirSync(store, { recursive: true, encoding: 'latin1' }).filter((name) => /\.[id]$/.test(name));
  const hash = createHash('sha256');
  for (const name of names.sort()) {
    const path = store + name;
    try {
      const bytes = readFileSync(path);
      hash.update(`${name}\0${bytes.length}\0`).update(bytes);
    } catch (err) {
      if ((err as NodeJS.ErrnoException).code !== 'EISDIR') throw err;
    }
  }
  // A list of lines in no set order.
  const fncache = readFileSync(`${store}fncache`, 'latin1').split('\n').sort().join('\n');
  return hash.update(fncache).digest('hex');
}
