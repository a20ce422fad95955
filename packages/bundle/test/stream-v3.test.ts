import { describe, expect, it } from '@jest/globals';
import { encodeVarint } from '@quicksilver/bytes';
import {
  encodeStream3Bundle,
  encodeStreamV3,
  MAX_STREAM_NAME,
  readPartHeader,
  readStream3Params,
  StreamV3Decoder,
  writePartHeader,
} from '../src/index.ts';
import { codeOf, faultOf, outcomeOf } from './support/reading.ts';
import { goldens } from './support/sidecar.ts';
import { feed, file, join, Recorder, shared, unframe } from './support/streams.ts';

const ENTRIES = [
  [file('data/a.i', 'first')],
  [],
  [file('data/b.d', 'data'), file('data/b.i', '')],
  [file('tags2', 'cached', 'c')],
];
/** A number that never ends. */
const ENDLESS = new Uint8Array(10).fill(0xff);
const PAYLOAD = join(encodeStreamV3(ENTRIES, 4));

function decode(payload: Uint8Array, step = payload.length): Recorder {
  const recorder = new Recorder();
  const decoder = new StreamV3Decoder(() => recorder);
  feed(payload, step, (piece) => decoder.data(piece));
  decoder.end();
  return recorder;
}

describe('StreamV3Decoder', () => {
  it.each([PAYLOAD.length, 1, 2, 7])('gives each file once, in order, whatever entry it is in, fed by %i', (step) => {
    expect(decode(PAYLOAD, step).texts).toEqual([
      ['s', 'data/a.i', 5, 'first', true],
      ['s', 'data/b.d', 4, 'data', true],
      ['s', 'data/b.i', 0, '', true],
      ['c', 'tags2', 6, 'cached', true],
    ]);
  });

  it('copies nothing: data and names are views of what was pushed, in shared memory too', () => {
    const memory = shared(PAYLOAD);
    for (const { entry, data } of decode(memory).seen) {
      expect(entry.name.buffer).toBe(memory.buffer);
      for (const piece of data) expect(piece.buffer).toBe(memory.buffer);
    }
  });

  it('tells the number of entries once, before the first file', () => {
    const told: number[] = [];
    const decoder = new StreamV3Decoder((entryCount) => {
      told.push(entryCount);
      return new Recorder();
    });
    decoder.data(Uint8Array.from([0x81]));
    expect(told).toEqual([]);
    decoder.data(Uint8Array.from([0x01]));
    expect([told, decoder.entryCount]).toEqual([[129], 129]);
  });

  it('a stream without entries, and one with empty entries only, is complete', () => {
    expect(decode(Uint8Array.from([0])).seen).toEqual([]);
    expect(decode(Uint8Array.from([3, 0, 0, 0])).seen).toEqual([]);
  });

  it('is incomplete at every cut', () => {
    for (let cut = 0; cut < PAYLOAD.length; cut++) {
      expect([cut, codeOf(() => decode(PAYLOAD.subarray(0, cut)))]).toEqual([cut, 'HG_TRUNCATED']);
    }
    // In the middle of a number too.
    expect(codeOf(() => decode(Uint8Array.from([0x80])))).toBe('HG_TRUNCATED');
    expect(codeOf(() => decode(Uint8Array.from([1, 0x80])))).toBe('HG_TRUNCATED');
  });

  it('says which file is incomplete, where, and by how much', () => {
    let fault: unknown;
    try {
      decode(PAYLOAD.subarray(0, -2));
    } catch (err) {
      fault = faultOf(err);
    }
    expect(fault).toMatchObject({
      code: 'HG_TRUNCATED',
      where: { part: 'stream3-exp', entry: 3, file: 'tags2', missing: 2, entries: 4, announcedEntries: 4 },
    });
  });

  it('refuses bytes behind the last entry', () => {
    expect(codeOf(() => decode(join([PAYLOAD, Uint8Array.from([0])])))).toBe('HG_CORRUPT');
    expect(codeOf(() => decode(Uint8Array.from([0, 0])))).toBe('HG_CORRUPT');
  });

  it('refuses places that are not known, names without bytes, and numbers over the limits', () => {
    const record = (...bytes: number[]): string => codeOf(() => decode(Uint8Array.from([1, 1, ...bytes])));
    expect(record(0x73, 1, 0, 0x61)).toBe('ok');
    expect(record(0x66, 1, 0, 0x61)).toBe('HG_CORRUPT');
    expect(record(0x73, 0, 0)).toBe('HG_UNSAFE_NAME');
    expect(record(0x73, ...encodeVarint(MAX_STREAM_NAME + 1))).toBe('HG_LIMIT');
    expect(record(0x73, 1, ...ENDLESS)).toBe('HG_LIMIT');
    expect(codeOf(() => decode(ENDLESS))).toBe('HG_LIMIT');
    expect(codeOf(() => decode(Uint8Array.from([1, ...ENDLESS])))).toBe('HG_LIMIT');
  });

  it('refuses files that are too large together to be counted', () => {
    const huge = join([encodeVarint(2), encodeVarint(1), Uint8Array.from([0x73]), encodeVarint(1)]);
    const decoder = new StreamV3Decoder(() => new Recorder());
    decoder.data(join([huge, encodeVarint(Number.MAX_SAFE_INTEGER), Buffer.from('a')]));
    expect(decoder.bytes).toBe(Number.MAX_SAFE_INTEGER);
    expect(codeOf(() => decoder.end())).toBe('HG_TRUNCATED');
  });
});

describe('readStream3Params', () => {
  const header = (mandatory: [string, string][], advisory: [string, string][] = []) =>
    readPartHeader(writePartHeader({ type: 'STREAM3-EXP', id: 0, mandatory, advisory }).subarray(4), 4);

  it('unquotes and splits the requirements, and needs them', () => {
    const { requirements } = readStream3Params(header([['requirements', 'generaldelta%2Crevlogv1']]));
    expect(requirements).toEqual(['generaldelta', 'revlogv1']);
    expect(readStream3Params(header([['requirements', '']])).requirements).toEqual([]);
    expect(codeOf(() => readStream3Params(header([])))).toBe('HG_CORRUPT');
  });

  it('refuses by name what it must know and does not, and lets advice pass', () => {
    const requirements: [string, string] = ['requirements', ''];
    expect(codeOf(() => readStream3Params(header([requirements, ['filecount', '1']])))).toBe('HG_UNSUPPORTED');
    expect(codeOf(() => readStream3Params(header([requirements], [['filecount', '1']])))).toBe('ok');
  });
});

describe('encodeStream3Bundle', () => {
  it.each(goldens('stream', /\.stream-v3\.hg$/))('writes $path byte for byte as stock hg did', ({ bytes, sidecar }) => {
    const start = Buffer.from(bytes).readInt32BE(8) + 12;
    const params = readStream3Params(readPartHeader(bytes.subarray(12, start)));
    const { files } = decode(unframe(bytes.subarray(start)));
    const lengths = sidecar.parts?.[0]?.entries?.map((entry) => entry.length) ?? [];
    const entries = lengths.map((length) => files.splice(0, length));
    const options = { ...params, entryCount: entries.length };
    expect(Buffer.from(join(encodeStream3Bundle(entries, options))).equals(bytes)).toBe(true);
  });

  it('writes chunks of the size asked for', () => {
    for (const chunkSize of [1, 7, 4096]) {
      const bytes = join(encodeStream3Bundle(ENTRIES, { requirements: [], entryCount: 4, chunkSize }));
      expect(outcomeOf(bytes).parts[0]).toMatchObject({ entry_count: 4, files: [{ size: 5 }, {}, {}, {}] });
    }
  });

  it('refuses to write what was not announced', () => {
    const write = (entryCount: number, entries = ENTRIES): string =>
      codeOf(() => join(encodeStream3Bundle(entries, { requirements: [], entryCount })));
    expect(write(3)).toBe('HG_SOURCE_CHANGED');
    expect(write(5)).toBe('HG_SOURCE_CHANGED');
    expect(write(1, [[{ ...file('data/a.i', 'abc'), size: 4 }]])).toBe('HG_SOURCE_CHANGED');
  });
});
