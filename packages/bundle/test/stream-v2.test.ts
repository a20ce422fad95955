import { describe, expect, it } from '@jest/globals';
import { encodeVarint } from '@quicksilver/bytes';
import {
  encodeStreamBundle,
  encodeStreamV2,
  MAX_STREAM_NAME,
  readPartHeader,
  readStream2Params,
  StreamV2Decoder,
  writePartHeader,
} from '../src/index.ts';
import { codeOf, faultOf, outcomeOf } from './support/reading.ts';
import { goldens } from './support/sidecar.ts';
import { feed, file, join, Recorder, type Seen, shared, unframe } from './support/streams.ts';

function decode(
  payload: Uint8Array,
  announced: { fileCount: number; byteCount: number },
  step = payload.length,
): Seen[] {
  const recorder = new Recorder();
  const decoder = new StreamV2Decoder({ ...announced, requirements: [] }, recorder);
  feed(payload, step, (piece) => decoder.data(piece));
  decoder.end();
  return recorder.seen;
}

const stream2 = (params: [string, string][]) => {
  const bytes = writePartHeader({ type: 'STREAM2', id: 0, mandatory: params });
  return readPartHeader(bytes.subarray(4), 4);
};

describe('StreamV2Decoder', () => {
  const files = [file('data/a.i', 'first'), file('data/\xe9.i', ''), file('branch2-served', 'cached', 'c')];
  const payload = join(encodeStreamV2(files, { fileCount: 3, byteCount: 11 }));

  it.each([payload.length, 1, 2, 7])('gives each file once, in order, empty ones too, fed by %i', (step) => {
    const seen = decode(payload, { fileCount: 3, byteCount: 11 }, step);
    expect(
      seen.map(({ entry, data, ended }) => [
        entry.vfsKey,
        Buffer.from(entry.name).toString('latin1'),
        entry.size,
        Buffer.from(join(data)).toString('latin1'),
        ended,
      ]),
    ).toEqual([
      ['s', 'data/a.i', 5, 'first', true],
      ['s', 'data/\xe9.i', 0, '', true],
      ['c', 'branch2-served', 6, 'cached', true],
    ]);
  });

  it('copies nothing: data and names are views of what was pushed, in shared memory too', () => {
    const memory = shared(payload);
    for (const { entry, data } of decode(memory, { fileCount: 3, byteCount: 11 })) {
      expect(entry.name.buffer).toBe(memory.buffer);
      for (const piece of data) expect(piece.buffer).toBe(memory.buffer);
    }
  });

  it('K006: a stream without files is complete', () => {
    expect(decode(new Uint8Array(0), { fileCount: 0, byteCount: 0 })).toEqual([]);
  });

  it('K048: names of control files are names like any other here', () => {
    const odd = ['data/00changelog.i.i', 'data/undo.d.d', 'data/foo.n.i', `data/${'long/'.repeat(60)}x.i`];
    const bytes = join(
      encodeStreamV2(
        odd.map((name) => file(name, 'x')),
        { fileCount: 4, byteCount: 4 },
      ),
    );
    const seen = decode(bytes, { fileCount: 4, byteCount: 4 }, 3);
    expect(seen.map(({ entry }) => Buffer.from(entry.name).toString('latin1'))).toEqual(odd);
  });

  it('refuses a file that passes the announced total before its first byte is handed on', () => {
    const handed: number[] = [];
    const decoder = new StreamV2Decoder(
      { fileCount: 3, byteCount: 10, requirements: [] },
      {
        file: ({ size }) => handed.push(size),
        data: () => undefined,
        fileEnd: () => undefined,
      },
    );
    expect(codeOf(() => decoder.data(payload))).toBe('HG_CORRUPT');
    expect(handed).toEqual([5, 0]);
  });

  it('says which file is incomplete, where, and by how much', () => {
    let fault: unknown;
    try {
      decode(payload.subarray(0, payload.length - 2), { fileCount: 3, byteCount: 11 });
    } catch (err) {
      fault = faultOf(err);
    }
    expect(fault).toMatchObject({
      code: 'HG_TRUNCATED',
      where: { entry: 2, file: 'branch2-served', size: 6, missing: 2, offset: payload.length - 2 },
    });
  });

  it('takes names up to the limit and none beyond', () => {
    const entry = (length: number): Uint8Array =>
      Uint8Array.from([0x73, ...encodeVarint(length), 0, ...new Uint8Array(length).fill(0x61)]);
    expect(decode(entry(MAX_STREAM_NAME), { fileCount: 1, byteCount: 0 }, 100).length).toBe(1);
    expect(codeOf(() => decode(entry(MAX_STREAM_NAME + 1), { fileCount: 1, byteCount: 0 }))).toBe('HG_LIMIT');
  });
});

describe('readStream2Params', () => {
  const all = (value: string): [string, string][] => [
    ['bytecount', '10'],
    ['filecount', '2'],
    ['requirements', value],
  ];

  it('unquotes and splits the requirements', () => {
    const { requirements } = readStream2Params(stream2(all('generaldelta%2Crevlogv1%2cexp%2Dx')));
    expect(requirements).toEqual(['generaldelta', 'revlogv1', 'exp-x']);
  });

  it('K006: an empty list of requirements is a list', () => {
    expect(readStream2Params(stream2(all('')))).toEqual({ fileCount: 2, byteCount: 10, requirements: [] });
  });

  it.each(['', ' 2', '2 ', '+2', '-1', '1e3', '0x2', '2.0', '\xb2', 'many'])('takes digits only, not %j', (value) => {
    expect(
      codeOf(() =>
        readStream2Params(
          stream2([
            ['bytecount', '1'],
            ['filecount', value],
            ['requirements', ''],
          ]),
        ),
      ),
    ).toBe('HG_CORRUPT');
  });

  it('refuses counts that a number cannot hold', () => {
    expect(
      codeOf(() =>
        readStream2Params(
          stream2([
            ['bytecount', '9'.repeat(200)],
            ['filecount', '1'],
            ['requirements', ''],
          ]),
        ),
      ),
    ).toBe('HG_LIMIT');
  });

  it.each(['bytecount', 'filecount', 'requirements'])('needs %s', (missing) => {
    expect(codeOf(() => readStream2Params(stream2(all('').filter(([key]) => key !== missing))))).toBe('HG_CORRUPT');
  });
});

describe('encodeStreamBundle', () => {
  it.each(goldens('stream', /\.stream-v2\.hg$/))('writes $path byte for byte as stock hg did', ({ bytes }) => {
    const size = (Buffer.from(bytes.subarray(8, 12)).readInt32BE() + 12) | 0;
    const header = readPartHeader(bytes.subarray(12, size));
    const params = readStream2Params(header);
    const payload = unframe(bytes.subarray(size));
    const recorder = new Recorder();
    const decoder = new StreamV2Decoder(params, recorder);
    decoder.data(payload);
    decoder.end();
    expect(Buffer.from(join(encodeStreamBundle(recorder.files, params))).equals(bytes)).toBe(true);
  });

  it('writes chunks of the size asked for', () => {
    const files = [file('data/a.i', 'a'.repeat(1000))];
    const options = { fileCount: 1, byteCount: 1000, requirements: ['revlogv1'] };
    for (const chunkSize of [1, 7, 1009, 4096]) {
      const bytes = join(encodeStreamBundle(files, { ...options, chunkSize }));
      expect(outcomeOf(bytes).parts[0]?.files).toMatchObject([{ src: 's', name: 'data/a.i', size: 1000 }]);
    }
    expect(codeOf(() => join(encodeStreamBundle(files, { ...options, chunkSize: 0 })))).toBe('HG_USAGE');
  });

  it('refuses to write what was not announced', () => {
    const options = { fileCount: 1, byteCount: 3, requirements: [] };
    const files = [file('data/a.i', 'abc')];
    expect(codeOf(() => join(encodeStreamBundle(files, options)))).toBe('ok');
    expect(codeOf(() => join(encodeStreamBundle([...files, ...files], options)))).toBe('HG_SOURCE_CHANGED');
    expect(codeOf(() => join(encodeStreamBundle([{ vfsKey: 's', name: 'a', size: 3, data: [] }], options)))).toBe(
      'HG_SOURCE_CHANGED',
    );
    expect(codeOf(() => join(encodeStreamBundle(files, { ...options, byteCount: 4 })))).toBe('HG_SOURCE_CHANGED');
  });
});
