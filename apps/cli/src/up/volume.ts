import { HgError } from '@quicksilver/hg-types';

/** The one volume of a machine that was not given any. */
export async function initVolume(path: string): Promise<void> {
  // QUICKSILVER_VOLUMES lists volumes separated by it.
  if (path.includes(',')) throw new HgError('HG_USAGE', 'the data directory cannot have "," in its path', { path });
  const { Volume } = await import('@quicksilver/mirror');
  await Volume.init(path, { name: 'main' });
}
