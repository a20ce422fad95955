import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { type CompressionName, decompressStream } from '@quicksilver/codec';
import { readBundleHeader } from '../src/index.ts';
import { outcomeOf, Reading } from './support/reading.ts';
import { type Golden, goldens, partFacts, type SidecarName } from './support/sidecar.ts';

const STREAMS = [...goldens('stream', /\.stream-v[23]\.hg$/), ...goldens('hg6', /\.stream-v2\.hg$/)];
const PACKED = [...goldens('stream', /\.packed1\.hg$/), ...goldens('hg6', /\.packed1\.hg$/)];
const OTHERS = [...goldens('hg6', /\.(none-v\d|zstd-v2)\.hg$/), ...goldens('bundle', /./)];

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

describe.each(PACKED)('$path', ({ bytes, sidecar }) => {
  it('has the header and the files of its sidecar, with directories as the store means them', () => {
    const outcome = outcomeOf(bytes);
    const facts = sidecar.stream1;
    expect(outcome.code).toBe('ok');
    expect(outcome.header).toEqual({
      kind: 'HGS1',
      stream: {
        fileCount: facts?.filecount,
        byteCount: facts?.bytecount,
        requirements: facts?.requirements.split(','),
      },
      bodyOffset: 24 + (facts?.requirements_raw_length ?? 0),
    });
    expect(outcome.files).toEqual(facts?.files.map((file) => ({ ...file, src: 's', name: decoded(file.name) })));
    expect(outcome.trailing).toBe(facts?.trailing);
  });
});

it('a stream of version 1 means the names that one of version 2 spells', () => {
  const [v1, v2] = ['oddpaths.packed1', 'oddpaths.stream-v2'].map((name) => {
    const [golden] = goldens('stream', new RegExp(`^${name}\\.hg$`));
    const { files, parts } = outcomeOf(golden?.bytes ?? new Uint8Array(0));
    return [...files, ...parts.flatMap((part) => part.files ?? [])].filter(({ src, size }) => src === 's' && size > 0);
  });
  expect(v1).toEqual(v2);
  expect(v1?.map(({ name }) => name)).toEqual(expect.arrayContaining(['data/dir.i/f.i', 'data/foo.hg/baz.i']));
});

describe.each([...STREAMS, ...PACKED, ...OTHERS])('$path', (golden) => {
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
      // What a sidecar calls the body of an HGS1 file begins with the fields of its header.
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

function decoded(name: SidecarName): SidecarName {
  return typeof name === 'string' ? name.replace(/\.(hg|i|d)\.hg\//g, '.$1/') : name;
}
