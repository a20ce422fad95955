import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeMirrorName } from './names.ts';
import type { Volume } from './volume.ts';

/** Every mirror that has left a trace in a lane, a generation or a link, sorted by name. */
export async function listMirrors(volume: Volume): Promise<string[]> {
  const names = new Set<string>();
  for (const folder of ['locks', 'generations'] as const) {
    for (const entry of await readdir(volume.paths.folder(folder))) {
      const name = decodeMirrorName(entry);
      if (name !== undefined) names.add(name);
    }
  }
  for await (const name of linkNames(volume.paths.folder('mirrors'), '')) names.add(name);
  return [...names].sort();
}

async function* linkNames(folder: string, prefix: string): AsyncGenerator<string> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const name = `${prefix}${entry.name}`;
    if (entry.isSymbolicLink()) yield name;
    else if (entry.isDirectory()) yield* linkNames(join(folder, entry.name), `${name}/`);
  }
}
