import { describe, expect, it } from '@jest/globals';
import { decodeVarint } from '@quicksilver/bytes';
import { type Random, seededRandom } from '@quicksilver/testing';
import {
  readBookmarks,
  readBundleHeader,
  readPartHeader,
  readPhaseHeads,
  StreamOutDecoder,
  StreamV1Decoder,
  StreamV2Decoder,
  StreamV3Decoder,
} from '../src/index.ts';
import { codeOf } from './support/reading.ts';
import { type Golden, goldens } from './support/sidecar.ts';
import { silentFault } from './support/silent.ts';

/** Where the lengths and counts of a bundle with one stream lie, found by hand. */
function lengthFields(bytes: Uint8Array): number[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const run = (from: number, length: number): number[] => Array.from({ length }, (_, i) => from + i);
  const typeLength = buffer.readUInt8(12);
  const counts = 13 + typeLength + 4;
  const params = buffer.readUInt8(counts) + buffer.readUInt8(counts + 1);
  const headerEnd = 12 + buffer.readInt32BE(8);
  const fields = [...run(4, 9), ...run(counts, 2 + 2 * params), ...run(headerEnd, 4)];
  // Only streams of one chunk are asked for, so the entries follow each other.
  let at = headerEnd + 4;
  while (at < headerEnd + 4 + buffer.readInt32BE(headerEnd)) {
    const name = decodeVarint(bytes, at + 1);
    const data = decodeVarint(bytes, name?.next ?? at);
    if (!name || !data) throw new Error('not an entry');
    fields.push(...run(at + 1, data.next - at - 1));
    at = data.next + name.value + data.value;
  }
  return [...fields, ...run(at, 8)];
}

const small = (pattern: RegExp): Golden[] => goldens('stream', pattern).filter(({ bytes }) => bytes.length < 12_000);
const FLIPPED = [
  ...small(/\.packed1\.hg$/).map((golden) => ({ ...golden, fields: lengthFields1(golden.bytes) })),
  ...small(/\.stream-v2\.hg$/).map((golden) => ({ ...golden, fields: lengthFields(golden.bytes) })),
  ...small(/\.stream-v3\.hg$/).map((golden) => ({ ...golden, fields: lengthFields3(golden.bytes) })),
];
const INPUTS = [...goldens('stream', /(stream-v[23]|packed1)\.hg$/), ...goldens('bundle', /\.none-v[23]/)]
  .map(({ bytes }) => bytes)
  .filter((bytes) => bytes.length < 12_000);

/** The same in a stream of version 1: counts, length of the requirements, and the end of each name with its size. */
function lengthFields1(bytes: Uint8Array): number[] {
  const buffer = Buffer.from(bytes);
  const fields = Array.from({ length: 18 }, (_, i) => 6 + i);
  for (let at = 24 + buffer.readUInt16BE(22); at < bytes.length; ) {
    const [nul, lf] = [buffer.indexOf(0, at), buffer.indexOf(0x0a, at)];
    fields.push(...Array.from({ length: lf - nul + 1 }, (_, i) => nul + i));
    at = lf + 1 + Number(buffer.toString('latin1', nul + 1, lf));
  }
  return fields;
}

/** And of version 3, in one chunk: number of entries, of files in each, lengths of names and data. */
function lengthFields3(bytes: Uint8Array): number[] {
  const buffer = Buffer.from(bytes);
  const start = 12 + buffer.readInt32BE(8);
  const fields = Array.from({ length: 4 }, (_, i) => start + i);
  let at = start + 4;
  const number = (): number => {
    const varint = decodeVarint(bytes, at);
    if (!varint) throw new Error('not an entry');
    for (; at < varint.next; at++) fields.push(at);
    return varint.value;
  };
  for (let entries = number(); entries > 0; entries--) {
    for (let files = number(); files > 0; files--) {
      at += 1;
      const name = number();
      const size = number();
      at += name + size;
    }
  }
  return [...fields, at, at + 1, at + 2, at + 3];
}

describe.each(FLIPPED)('$path with a length flipped', ({ bytes, fields }) => {
  it('is refused with a place, whichever bit of whichever length it was', () => {
    for (const at of fields) {
      for (let bit = 0; bit < 8; bit++) {
        const flipped = bytes.slice();
        flipped[at] = (flipped[at] ?? 0) ^ (1 << bit);
        const { code, where } = silentFault(flipped);
        if (code === 'ok' || Object.keys(Object(where)).length === 0) expect([at, bit, code, where]).toEqual('refused');
      }
    }
  });
});

function mutate(bytes: Uint8Array, random: Random): Uint8Array {
  const changed = Buffer.from(
    bytes.subarray(0, random.pick([bytes.length, bytes.length, random.int(0, bytes.length)])),
  );
  for (let count = random.int(0, 4); count > 0 && changed.length > 0; count--) {
    // The beginning holds what steers the reading.
    const at = random.int(0, random.pick([changed.length, Math.min(200, changed.length)]));
    const value = random.pick([0, 1, 0x7f, 0x80, 0xff, random.int(0, 256)]);
    changed[at] = value;
    if (random.int(0, 3) === 0) changed.fill(value, at, Math.min(changed.length, at + 4));
  }
  if (random.int(0, 5) > 0) return changed;
  const cut = random.int(0, changed.length + 1);
  return Buffer.concat([changed.subarray(0, cut), random.bytes(random.int(0, 40)), changed.subarray(cut)]);
}

describe('damaged and random input', () => {
  // Only coded errors pass `silentFault` and `codeOf`: anything else thrown fails the test.
  it('ends containers and streams in a coded error or well', () => {
    const random = seededRandom(2026);
    const codes = new Set<string>();
    for (let round = 0; round < 20_000; round++) codes.add(silentFault(mutate(random.pick(INPUTS), random)).code);
    expect([...codes].sort()).toEqual(
      expect.arrayContaining(['HG_CORRUPT', 'HG_LIMIT', 'HG_TRUNCATED', 'HG_UNSUPPORTED', 'ok']),
    );
  });

  it('ends each parser alone in a coded error or well', () => {
    const random = seededRandom(7);
    const ignore = (): void => undefined;
    const sink = { file: ignore, data: ignore, fileEnd: ignore };
    for (let round = 0; round < 5000; round++) {
      const bytes = new Uint8Array(random.bytes(random.int(0, 120)));
      codeOf(() => readBundleHeader(Buffer.concat([Buffer.from('HG20\0\0\0\x20'), bytes]), true));
      codeOf(() => readBundleHeader(bytes, random.int(0, 2) === 0));
      codeOf(() => readPartHeader(bytes));
      codeOf(() => readPhaseHeads(bytes));
      codeOf(() => readBookmarks(bytes));
      const params = { fileCount: random.int(0, 9), byteCount: random.int(0, 1000), requirements: [] };
      for (const first of [0x73, random.int(0, 4)]) {
        bytes[0] = first;
        for (const stream of [new StreamV2Decoder(params, sink), new StreamV3Decoder(() => sink)]) {
          codeOf(() => {
            stream.data(bytes);
            stream.end();
          });
        }
      }
      const line = Buffer.concat([Buffer.from(random.pick(['0\n', '0\n2 9\n', 'a\0', 'a\x001\n', ''])), bytes]);
      for (const stream of [new StreamV1Decoder(params, sink), new StreamOutDecoder(() => sink)]) {
        codeOf(() => {
          stream.push(line);
          stream.end();
        });
      }
    }
  });
});
