import { describe, expect, it } from '@jest/globals';
import { fixture } from '@quicksilver/testing';
import {
  encodeStream1Bundle,
  encodeStreamOut,
  encodeStreamV1,
  MAX_STREAM_NAME,
  readBundleHeader,
  StreamOutDecoder,
  StreamV1Decoder,
} from '../src/index.ts';
import { codeOf, faultOf, outcomeOf } from './support/reading.ts';
import { goldens } from './support/sidecar.ts';
import { feed, file, join, Recorder, shared } from './support/streams.ts';

const FILES = [file('data/a.i', 'first'), file('data/d.i/\xe9.i', ''), file('00changelog.i', 'with\nline\0')];
const ANNOUNCED = { fileCount: 3, byteCount: 15 };
const PAYLOAD = join(encodeStreamV1(FILES, ANNOUNCED));

function decode(payload: Uint8Array, announced = ANNOUNCED, step = payload.length): Recorder {
  const recorder = new Recorder();
  const decoder = new StreamV1Decoder(announced, recorder);
  feed(payload, step, (piece) => decoder.push(piece));
  decoder.end();
  return recorder;
}

const line = (text: string, announced = { fileCount: 1, byteCount: 3 }): string =>
  codeOf(() => decode(Buffer.from(text, 'latin1'), announced));

describe('StreamV1Decoder', () => {
  it.each([PAYLOAD.length, 1, 2, 7])('gives each file once, in order, empty ones too, fed by %i', (step) => {
    expect(decode(PAYLOAD, ANNOUNCED, step).texts).toEqual([
      ['s', 'data/a.i', 5, 'first', true],
      ['s', 'data/d.i/\xe9.i', 0, '', true],
      ['s', '00changelog.i', 10, 'with\nline\0', true],
    ]);
  });

  it('copies nothing: data and names are views of what was pushed, in shared memory too', () => {
    const memory = shared(PAYLOAD);
    for (const { entry, data } of decode(memory).seen) {
      // Only a name whose directories were encoded is another.
      if (entry.size > 0) expect(entry.name.buffer).toBe(memory.buffer);
      for (const piece of data) expect(piece.buffer).toBe(memory.buffer);
    }
  });

  it('undoes the encoding of directories once, and of nothing else', () => {
    const names: readonly (readonly [spelled: string, meant: string])[] = [
      ['data/x.i.hg/y.i', 'data/x.i/y.i'],
      ['data/x.hg.hg/y.d.hg/z.d', 'data/x.hg/y.d/z.d'],
      ['data/x.i.hg.hg/y.i', 'data/x.i.hg/y.i'],
      ['data/x.hg/y.i', 'data/x.hg/y.i'],
      ['data/y.i.hg', 'data/y.i.hg'],
      ['data/\xff.d.hg/\x80.i', 'data/\xff.d/\x80.i'],
    ];
    for (const [spelled, meant] of names) {
      const bytes = Buffer.from(`${spelled}\x000\n`, 'latin1');
      expect(decode(bytes, { fileCount: 1, byteCount: 0 }).texts[0]?.[1]).toBe(meant);
    }
  });

  it('a stream without files is complete before its first byte', () => {
    const decoder = new StreamV1Decoder({ fileCount: 0, byteCount: 0 }, new Recorder());
    expect(decoder.finished).toBe(true);
    decoder.end();
  });

  it('counts what follows the last file, and does not look at it', () => {
    for (const step of [1, 5, 1000]) {
      const decoder = new StreamV1Decoder(ANNOUNCED, new Recorder(), 100);
      feed(join([PAYLOAD, Buffer.from('HTTP')]), step, (piece) => decoder.push(piece));
      decoder.end();
      expect([decoder.finished, decoder.trailing, decoder.offset]).toEqual([true, 4, 100 + PAYLOAD.length]);
    }
  });

  it('is incomplete at every cut', () => {
    for (let cut = 0; cut < PAYLOAD.length; cut++) {
      expect([cut, codeOf(() => decode(PAYLOAD.subarray(0, cut)))]).toEqual([cut, 'HG_TRUNCATED']);
    }
  });

  it('says which file is incomplete, where, and by how much', () => {
    let fault: unknown;
    try {
      decode(PAYLOAD.subarray(0, -2));
    } catch (err) {
      fault = faultOf(err);
    }
    expect(fault).toMatchObject({
      where: { stream: 'v1', entry: 2, file: '00changelog.i', size: 10, missing: 2, offset: PAYLOAD.length - 2 },
    });
  });

  it.each(['', ' 3', '3 ', '+3', '-3', '0x3', '3.0', '\xb3', 'zz', '3\0'])(
    'takes digits only for a size, not %j',
    (size) => {
      expect(line(`data/a.i\x00${size}\nabc`)).toBe('HG_CORRUPT');
    },
  );

  it('needs a name and a size', () => {
    expect(line('data/a.i\x003\nabc')).toBe('ok');
    expect(line('data/a.i 3\nabc')).toBe('HG_CORRUPT');
    expect(line('\nabc')).toBe('HG_CORRUPT');
    expect(line('\x003\nabc')).toBe('HG_UNSAFE_NAME');
  });

  it('refuses a file that passes the announced total before its first byte is handed on', () => {
    const recorder = new Recorder();
    const decoder = new StreamV1Decoder({ fileCount: 3, byteCount: 14 }, recorder);
    expect(codeOf(() => decoder.push(PAYLOAD))).toBe('HG_CORRUPT');
    expect(recorder.seen).toHaveLength(2);
    expect(codeOf(() => decode(PAYLOAD, { fileCount: 3, byteCount: 16 }))).toBe('HG_CORRUPT');
  });

  it('takes names up to the limit and none beyond, and no line without end', () => {
    const of = (length: number): string => line(`${'a'.repeat(length)}\x003\nabc`);
    expect(of(MAX_STREAM_NAME)).toBe('ok');
    expect(of(MAX_STREAM_NAME + 1)).toBe('HG_LIMIT');
    expect(line('a'.repeat(100_000))).toBe('HG_LIMIT');
    expect(line(`a\x00${'9'.repeat(16)}\nabc`)).toBe('HG_LIMIT');
    expect(line(`a\x00${'0'.repeat(10_000)}3\nabc`)).toBe('HG_LIMIT');
  });
});

describe('encodeStream1Bundle', () => {
  it.each(goldens('stream', /\.packed1\.hg$/))('writes $path byte for byte as stock hg did', ({ bytes }) => {
    const header = readBundleHeader(bytes, true);
    if (header?.kind !== 'HGS1') throw new Error('not a stream of version 1');
    const { files } = decode(bytes.subarray(header.bodyOffset), header.stream);
    expect(Buffer.from(join(encodeStream1Bundle(files, header.stream))).equals(bytes)).toBe(true);
  });

  it('refuses to write what was not announced, or what a reader would take for something else', () => {
    const write = (files: typeof FILES, announced = ANNOUNCED): string =>
      codeOf(() => join(encodeStream1Bundle(files, { ...announced, requirements: [] })));
    expect(write(FILES)).toBe('ok');
    expect(write(FILES.slice(1))).toBe('HG_SOURCE_CHANGED');
    expect(write(FILES, { fileCount: 3, byteCount: 16 })).toBe('HG_SOURCE_CHANGED');
    for (const odd of [file('a\nb', ''), file('a\0b', ''), file('', ''), file('tags2', '', 'c')]) {
      expect(write([...FILES, odd], { fileCount: 4, byteCount: 15 })).toBe('HG_USAGE');
    }
  });
});

describe('StreamOutDecoder', () => {
  const reply = new Uint8Array(fixture('wire/ssh-stream_out.resp'));
  const read = (bytes: Uint8Array, step = bytes.length): Recorder => {
    const recorder = new Recorder();
    const decoder = new StreamOutDecoder(() => recorder);
    feed(bytes, step, (piece) => decoder.push(piece));
    decoder.end();
    return recorder;
  };
  const text = (value: string): string => codeOf(() => read(Buffer.from(value, 'latin1')));

  it.each([reply.length, 1, 13])('reads what a server of stock hg sends, fed by %i', (step) => {
    const [golden] = goldens('stream', /^basic\.packed1\.hg$/);
    const { seen } = read(reply, step);
    const inFile = outcomeOf(golden?.bytes ?? new Uint8Array(0)).files;
    expect(seen.map(({ entry }) => [Buffer.from(entry.name).toString(), entry.size])).toEqual(
      inFile.map(({ name, size }) => [name, size]),
    );
    const { files } = read(reply);
    expect(Buffer.from(join(encodeStreamOut(files, { fileCount: 17, byteCount: 7225 }))).equals(reply)).toBe(true);
  });

  it('is incomplete at every cut near its lines and at others', () => {
    for (let cut = 0; cut < reply.length; cut += cut < 60 ? 1 : 41) {
      expect([cut, codeOf(() => read(reply.subarray(0, cut)))]).toEqual([cut, 'HG_TRUNCATED']);
    }
  });

  it('tells what was announced before the first file, and what lies behind the last', () => {
    const told: unknown[] = [];
    const decoder = new StreamOutDecoder((announced) => {
      told.push(announced);
      return new Recorder();
    });
    decoder.push(Buffer.from('0\n0 0\nnext reply'));
    decoder.end();
    expect(told).toEqual([{ fileCount: 0, byteCount: 0 }]);
    expect([decoder.finished, decoder.offset, decoder.trailing]).toEqual([true, 6, 10]);
  });

  it('passes on that a server refuses', () => {
    expect(text('1\n')).toBe('HG_REMOTE_ABORT');
    expect(text('2\n')).toBe('HG_REMOTE_ABORT');
  });

  it.each(['3\n', '\n', '00\n', '<html>\n', '0\n1\n', '0\n1 2 3\n', '0\n-1 0\n', '0\n 1 0\n', '0\nx y\n'])(
    'takes nothing else for a beginning: %j',
    (value) => expect(text(value)).toBe('HG_CORRUPT'),
  );

  it('does not wait for the end of a line that is too long', () => {
    expect(text('x'.repeat(100))).toBe('HG_LIMIT');
    expect(text(`0\n${'9'.repeat(16)} 1\n`)).toBe('HG_LIMIT');
  });
});
