import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HgError } from '@quicksilver/hg-types';

/** A real history (git-cinnabar's, MPL-2.0; see the README beside the file), a few MB. */
const BUNDLE = new URL('../../../../packages/testing/fixtures/histories/cinnabar.stream-v2.hg', import.meta.url);

export function demoBundle(): { readonly path: string; readonly root: string } {
  const path = fileURLToPath(BUNDLE);
  if (!existsSync(path)) throw new HgError('HG_NOT_FOUND', 'the bundle of the demo is not in this checkout', { path });
  const root = dirname(path);
  if (root.includes(':')) {
    // QUICKSILVER_SOURCE_ROOTS separates directories by it.
    throw new HgError('HG_USAGE', 'the demo cannot run from a directory with ":" in its path', { path: root });
  }
  return { path, root };
}
