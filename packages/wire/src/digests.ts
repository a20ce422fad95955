import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { HgError } from '@quicksilver/hg-types';

const LENGTHS = { sha256: 64, sha512: 128 } as const;
export type DigestAlgorithm = keyof typeof LENGTHS;

export interface Digest {
  readonly algorithm: DigestAlgorithm;
  readonly hex: string;
}

/** `sha256:<hex>` or `sha512:<hex>`. Others are refused: a digest that cannot be checked would only look like safety. */
export function parseDigest(text: string): Digest {
  const match = /^(sha256|sha512):([0-9a-f]+)$/i.exec(text);
  const algorithm = match?.[1]?.toLowerCase();
  const hex = match?.[2]?.toLowerCase() ?? '';
  if ((algorithm === 'sha256' || algorithm === 'sha512') && hex.length === LENGTHS[algorithm]) {
    return { algorithm, hex };
  }
  throw new HgError('HG_USAGE', 'a digest is sha256: or sha512: and the hex digits of that length');
}

/** The SHA-256 of a file, for receipts, after every wanted digest has been compared with it. */
export async function checkDigests(path: string, wanted: readonly Digest[], signal: AbortSignal): Promise<string> {
  const algorithms: ReadonlySet<DigestAlgorithm> = new Set(['sha256', ...wanted.map(({ algorithm }) => algorithm)]);
  const hashes = new Map([...algorithms].map((name) => [name, createHash(name)] as const));
  const stream = createReadStream(path, { highWaterMark: 1 << 20, signal });
  for await (const piece of stream) for (const hash of hashes.values()) hash.update(piece);
  const found = new Map([...hashes].map(([name, hash]) => [name, hash.digest('hex')] as const));
  for (const { algorithm, hex } of wanted) {
    const actual = found.get(algorithm) ?? '';
    if (actual !== hex) {
      throw new HgError('HG_DIGEST', 'the digest of what was fetched is another than the wanted one', {
        algorithm,
        wanted: hex,
        found: actual,
      });
    }
  }
  return found.get('sha256') ?? '';
}
