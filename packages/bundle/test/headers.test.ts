import { describe, expect, it } from '@jest/globals';
import {
  type BundleHeader,
  MAX_HEADER,
  MAX_STREAM_PARAMS,
  readBundleHeader,
  readPartHeader,
  refuseUnknown,
  writeBundleHeader,
  writePartHeader,
  writeStream1Header,
} from '../src/index.ts';
import { codeOf } from './support/reading.ts';

const text = (value: string): Uint8Array => new Uint8Array(Buffer.from(value, 'latin1'));

function hg20(params: string): Uint8Array {
  const size = Buffer.alloc(4);
  size.writeInt32BE(params.length);
  return new Uint8Array(Buffer.concat([text('HG20'), size, text(params)]));
}

function params(header: BundleHeader | undefined): unknown {
  return header?.kind === 'HG20' ? Object.fromEntries(header.params) : undefined;
}

describe('readBundleHeader', () => {
  it.each([
    ['HG10UN', { kind: 'HG10', compression: 'none', bodyOffset: 6 }],
    ['HG10GZ', { kind: 'HG10', compression: 'zlib', bodyOffset: 6 }],
    ['HG10BZ', { kind: 'HG10', compression: 'bzip2', bodyOffset: 4 }],
  ])('knows %s', (magic, header) => {
    expect(readBundleHeader(text(`${magic}body`), false)).toEqual(header);
  });

  it.each(['HG10ZS', 'HG10XX', 'HG10un', 'HG11UN', 'HG2Y', 'HG30', 'HGS1GZ', 'HGS2UN', 'HG\0\0'])(
    'refuses %j by name',
    (magic) => {
      expect(codeOf(() => readBundleHeader(text(`${magic}body`), false))).toBe('HG_UNSUPPORTED');
    },
  );

  it.each(['PK', 'G', '\0\0\0\x10', 'hg20', 'h', 'XG20'])(
    'knows that %j is no bundle, from its first byte on',
    (magic) => {
      expect(codeOf(() => readBundleHeader(text(magic), false))).toBe('HG_NOT_BUNDLE');
    },
  );

  it('asks for more until the header is there, and never for more than the limit', () => {
    const full = hg20('Compression=ZS');
    for (let length = 0; length < full.length; length++) {
      expect(readBundleHeader(full.subarray(0, length), false)).toBeUndefined();
      expect(codeOf(() => readBundleHeader(full.subarray(0, length), true))).toBe('HG_TRUNCATED');
    }
    const header = readBundleHeader(full, true);
    expect(header).toMatchObject({ kind: 'HG20', compression: 'zstd', bodyOffset: full.length });
    const longest = hg20('a'.repeat(MAX_STREAM_PARAMS));
    expect(longest.length).toBeLessThanOrEqual(MAX_HEADER);
    expect(readBundleHeader(longest, false)).toBeDefined();
    expect(codeOf(() => readBundleHeader(hg20('a'.repeat(MAX_STREAM_PARAMS + 1)).subarray(0, 8), false))).toBe(
      'HG_LIMIT',
    );
  });

  it('HGS1: reads counts and requirements, asks for more until they are there, and never for more than the limit', () => {
    const stream = { fileCount: 3, byteCount: 2 ** 40 + 1, requirements: ['generaldelta', 'revlogv1'] };
    const written = writeStream1Header(stream);
    expect(Buffer.from(written).toString('latin1').slice(-24)).toBe('\x16generaldelta,revlogv1\0'.padStart(24, '\0'));
    for (let length = 0; length < written.length; length++) {
      expect(readBundleHeader(written.subarray(0, length), false)).toBeUndefined();
      expect(codeOf(() => readBundleHeader(written.subarray(0, length), true))).toBe('HG_TRUNCATED');
    }
    expect(readBundleHeader(written, false)).toEqual({ kind: 'HGS1', stream, bodyOffset: written.length });
    const longest = writeStream1Header({ ...stream, requirements: ['x'.repeat(65_534)] });
    expect(longest.length).toBe(MAX_HEADER);
    expect(readBundleHeader(longest, false)).toMatchObject({ bodyOffset: MAX_HEADER });
    expect(codeOf(() => writeStream1Header({ ...stream, requirements: ['x'.repeat(65_535)] }))).toBe('HG_LIMIT');
  });

  it('HGS1: refuses counts that no number holds, and a list of requirements without its end', () => {
    const bytes = (at: number, value: number): Uint8Array => {
      const header = writeStream1Header({ fileCount: 1, byteCount: 1, requirements: ['revlogv1'] });
      header[at] = value;
      return header;
    };
    expect(codeOf(() => readBundleHeader(bytes(6, 0x40), false))).toBe('HG_LIMIT');
    expect(codeOf(() => readBundleHeader(bytes(14, 0x40).subarray(0, 24), false))).toBe('HG_LIMIT');
    expect(codeOf(() => readBundleHeader(bytes(32, 0x61), false))).toBe('HG_CORRUPT'); // the last byte
    expect(codeOf(() => readBundleHeader(bytes(26, 0), false))).toBe('HG_CORRUPT'); // in the middle
    expect(codeOf(() => readBundleHeader(bytes(23, 0), false))).toBe('HG_CORRUPT'); // no room even for the NUL
    expect(readBundleHeader(writeStream1Header({ fileCount: 0, byteCount: 0, requirements: [] }), true)).toMatchObject({
      stream: { requirements: [] },
    });
  });

  it('compares names without case, takes the last of two, unquotes both sides', () => {
    const header = readBundleHeader(hg20('Compression=GZ note=a%20b%3D= flag cOMPRESSION=UN'), true);
    expect(header).toMatchObject({ compression: 'none' });
    expect(params(header)).toEqual({
      compression: { name: 'cOMPRESSION', value: 'UN', mandatory: false },
      note: { name: 'note', value: 'a b==', mandatory: false },
      flag: { name: 'flag', value: undefined, mandatory: false },
    });
  });

  it('refuses a parameter it must know, wherever it stands and however it is spelled', () => {
    for (const list of ['Foo', 'Foo=1', 'Foo foo', 'a=1 %46oo', 'Compression=UN Foo']) {
      expect(codeOf(() => readBundleHeader(hg20(list), true))).toBe('HG_UNSUPPORTED');
    }
    expect(codeOf(() => readBundleHeader(hg20('Compression=XX Compression=GZ'), true))).toBe('HG_UNSUPPORTED');
    expect(codeOf(() => readBundleHeader(hg20('Compression'), true))).toBe('HG_UNSUPPORTED');
  });

  it.each([' ', 'a ', ' a', 'a  b', '1a', '=x', '%31a', '\xe9'])('refuses the list %j', (list) => {
    expect(codeOf(() => readBundleHeader(hg20(list), true))).toBe('HG_CORRUPT');
  });

  it('reads what writeBundleHeader writes', () => {
    const written = writeBundleHeader([
      ['Compression', 'ZS'],
      ['a b', 'c=d e'],
      ['x', undefined],
    ]);
    const header = readBundleHeader(written, true);
    expect(header).toMatchObject({ compression: 'zstd', bodyOffset: written.length });
    expect(params(header)).toMatchObject({ 'a b': { value: 'c=d e' }, x: { value: undefined } });
    expect(writeBundleHeader()).toEqual(hg20(''));
  });
});

describe('readPartHeader', () => {
  const read = (bytes: Uint8Array) => readPartHeader(bytes.subarray(4), 100);

  it('reads what writePartHeader writes', () => {
    const written = writePartHeader({
      type: 'Mixed:type-1',
      id: 7,
      mandatory: [['Key', 'v\xff']],
      advisory: [
        ['', 'empty key'],
        ['e', ''],
      ],
    });
    expect(read(written)).toEqual({
      type: 'mixed:type-1',
      rawType: 'Mixed:type-1',
      mandatory: true,
      id: 7,
      headerSize: written.length - 4,
      offset: 100,
      params: new Map([
        ['Key', { value: 'v\xff', mandatory: true }],
        ['', { value: 'empty key', mandatory: false }],
        ['e', { value: '', mandatory: false }],
      ]),
    });
  });

  it('lower-cases ASCII only', () => {
    expect(read(writePartHeader({ type: '\xc9A', id: 0 }))).toMatchObject({ type: '\xc9a', mandatory: true });
    expect(read(writePartHeader({ type: '\xc9', id: 0 }))).toMatchObject({ type: '\xc9', mandatory: false });
  });

  it('refuses every cut, leftovers and a key given twice', () => {
    const body = writePartHeader({ type: 'x', id: 0, mandatory: [['a', 'bc']] }).subarray(4);
    for (let cut = 0; cut < body.length; cut++) {
      expect(codeOf(() => readPartHeader(body.subarray(0, cut)))).toBe('HG_TRUNCATED');
    }
    expect(codeOf(() => readPartHeader(new Uint8Array([...body, 0])))).toBe('HG_CORRUPT');
    const twice = writePartHeader({ type: 'x', id: 0, mandatory: [['a', '1']], advisory: [['a', '2']] });
    expect(codeOf(() => read(twice))).toBe('HG_CORRUPT');
  });

  it('does not write what a header cannot hold', () => {
    expect(codeOf(() => writePartHeader({ type: 'x'.repeat(256), id: 0 }))).toBe('HG_LIMIT');
    expect(codeOf(() => writePartHeader({ type: 'x', id: 0, advisory: [['k', 'v'.repeat(256)]] }))).toBe('HG_LIMIT');
    const many = Array.from({ length: 256 }, (_, i) => [String(i), ''] as const);
    expect(codeOf(() => writePartHeader({ type: 'x', id: 0, mandatory: many }))).toBe('HG_LIMIT');
  });
});

describe('refuseUnknown', () => {
  const header = (type: string, mandatory: [string, string][] = [], advisory: [string, string][] = []) =>
    readPartHeader(writePartHeader({ type, id: 0, mandatory, advisory }).subarray(4), 12);

  it.each([
    ['STREAM2', [['bytecount', '1']], 'known'],
    ['stream2', [], 'known'],
    ['mystery', [['any', '1']], 'skip'],
    ['', [], 'skip'],
    ['changegroup', [['zzz', '1']], 'skip'],
    ['pushvars', [['ANY', '1']], 'known'],
    [
      'REMOTE-CHANGEGROUP',
      [
        ['digest:sha1', 'x'],
        ['url', 'y'],
      ],
      'known',
    ],
  ] as [string, [string, string][], string][])('%s with %j is %s', (type, mandatory, answer) => {
    expect(refuseUnknown(header(type, mandatory))).toBe(answer);
  });

  it('lets advisory parameters pass', () => {
    expect(refuseUnknown(header('CHANGEGROUP', [['version', '02']], [['zzz', '1']]))).toBe('known');
  });

  it('refuses by name what must be known', () => {
    expect(() => refuseUnknown(header('mySTERY'))).toThrow(
      expect.objectContaining({ code: 'HG_UNSUPPORTED', where: { part: 'mySTERY', offset: 12 } }),
    );
    expect(() => refuseUnknown(header('CHANGEGROUP', [['zzz', '1']]))).toThrow(
      expect.objectContaining({ code: 'HG_UNSUPPORTED', where: { part: 'CHANGEGROUP', parameter: 'zzz', offset: 12 } }),
    );
    expect(codeOf(() => refuseUnknown(header('REMOTE-CHANGEGROUP', [['other', 'x']])))).toBe('HG_UNSUPPORTED');
  });
});
