import { type BundleHeader, MAX_HEADER, readBundleHeader } from '@quicksilver/bundle';
import { HgError, toHgError } from '@quicksilver/hg-types';
import type { SourceFile } from './source-file.ts';

/** Room for the header of nearly every bundle in one read. */
const FIRST_READ = 4096;

export async function readHeader(source: SourceFile): Promise<BundleHeader> {
  for (const wanted of [FIRST_READ, MAX_HEADER]) {
    const length = Math.min(wanted, source.size);
    const prefix = new Uint8Array(length);
    await source.read(prefix, 0);
    const header = parse(source, prefix);
    if (header !== undefined) return header;
  }
  throw new HgError('HG_INTERNAL', 'the header of a bundle is longer than it can be', { file: source.path });
}

function parse(source: SourceFile, prefix: Uint8Array): BundleHeader | undefined {
  try {
    return readBundleHeader(prefix, prefix.length === source.size);
  } catch (err) {
    throw toHgError(err, { file: source.path });
  }
}
