import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { type CompressionName, decompressStream } from '@quicksilver/codec';
import { readBundleHeader } from '../src/index.ts';
import { outcomeOf, Reading } from './support/reading.ts';
import { type Golden, goldens, partFacts } from './support/sidecar.ts';

const STREAMS = [...goldens('stream', /\.stream-v2\.hg$/), ...goldens('hg6', /\.stream-v2\.hg$/)];
const OTHERS = [
  ...goldens('stream', /\.(stream-v3|packed1)\.hg$/),
  ...goldens('hg6', /\.(packed1|none-v\d|zstd-v2)\.hg$/),
  ...goldens('bundle', /./),
];

const COMPRESSION: Readonly<Record<string, CompressionName>> = { UN: 'none', GZ: 'zlib', ZS: 'zstd', BZ: 'bzip2' };

async function* body(bytes: Uint8Array, offset: number): AsyncGenerator<Uint8Array> {
  for (let at = offset; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
}

async function decompressed({ bytes }: Golden, name: CompressionName, offset: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of decompressStream(name, body(bytes, offset))) pieces.push(piece);
  return new Uint8Array(Buffer.concat(pieces));
}

describe.each(STREAMS)('$path', ({ bytes, sidecar }) => {
  it('has the header, parts, parameters and files of its sidecar', () => {
    const outcome = outcomeOf(bytes);
    expect(outcome.code).toBe('ok');
    expect(outcome.header).toMatchObject({ kind: 'HG20', compression: 'none' });
    expect(outcome.parts).toEqual(sidecar.parts?.map(partFacts));
    expect(outcome.parts.some((part) => part.files !== undefined)).toBe(true);
    expect(outcome.trailing).toBe(sidecar.trailing_after_end);
  });
});

describe.each([...STREAMS, ...OTHERS])('$path', (golden) => {
  const { bytes, sidecar } = golden;
  const header = readBundleHeader(bytes, true);
  const compression = COMPRESSION[sidecar.container.compression] ?? 'none';

  it('begins as its sidecar says', () => {
    expect(sidecar.container.magic.slice(0, 4)).toBe(header?.kind);
    if (header?.kind !== 'HGS1') expect(header?.compression).toBe(compression);
    if (header?.kind !== 'HG20') return;
    expect(Array.from(header.params.values(), ({ name, value }) => [name, value])).toEqual(sidecar.container.params);
  });

  it('has the body and the parts of its sidecar', async () => {
    const plain = await decompressed(golden, compression, header?.bodyOffset ?? 0);
    if (header?.kind !== 'HGS1') {
      expect(plain.length).toBe(sidecar.decompressed_body_size);
      expect(createHash('sha256').update(plain).digest('hex')).toBe(sidecar.decompressed_body_sha256);
    }
    if (header?.kind !== 'HG20') return;
    const reading = new Reading();
    reading.decoder.push(plain);
    reading.decoder.end();
    expect(reading.parts).toEqual(sidecar.parts?.map(partFacts));
    expect(reading.decoder.trailing).toBe(sidecar.trailing_after_end);
  });
});
