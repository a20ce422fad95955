import { Buffer } from 'node:buffer';
import { describe, expect, it } from '@jest/globals';
import { hexNode } from '@quicksilver/hg-types';
import { parseChangeset } from '../src/index.ts';

const MANIFEST = '290cc8ec4f24a99e4c3a4820074e06a9b7354a03';
const parse = (text: string | Uint8Array): ReturnType<typeof parseChangeset> =>
  parseChangeset(Buffer.from(text), { file: '00changelog', rev: 4 });

describe('changeset texts', () => {
  it('have manifest, user, date, files and description', () => {
    const changeset = parse(`${MANIFEST}\nJö <j@x>\n1700000000 -19800\na\nb/c\n\nfirst\n\nsecond`);
    expect(changeset).toMatchObject({
      user: 'Jö <j@x>',
      time: 1700000000,
      zone: -19800,
      branch: 'default',
      closesBranch: false,
      files: ['a', 'b/c'],
      description: 'first\n\nsecond',
    });
    expect(hexNode(changeset.manifest)).toBe(MANIFEST);
    expect(changeset.extra.size).toBe(0);
  });

  it('without files have their description after one empty line', () => {
    expect(parse(`${MANIFEST}\nu\n0 0\n\nmerge`)).toMatchObject({ files: [], description: 'merge' });
    expect(parse(`${MANIFEST}\nu\n0 0\n\n`)).toMatchObject({ files: [], description: '' });
    expect(parse(`${MANIFEST}\nu\n0 0\n\n\n\nodd`)).toMatchObject({ files: [], description: '\n\nodd' });
  });

  it('have extras with escapes, and the branch among them', () => {
    const { extra, branch, closesBranch } = parse(
      `${MANIFEST}\nu\n8 0 branch:s\xfcd\0close:1\0k:a\\nb\\\\n\\0c:d\\r\n\nx`,
    );
    expect([branch, closesBranch]).toEqual(['süd', true]);
    expect(extra.get('k')).toBe('a\nb\\n\0c:d\r');
  });

  it('keep binary extras byte for byte', () => {
    const text = Buffer.concat([
      Buffer.from(`${MANIFEST}\nu\n8 0 transplant_source:`),
      Buffer.from([0xff, 0x80, 0x5c, 0x30, 0x01]),
      Buffer.from('\n\nx'),
    ]);
    expect(Buffer.from(parse(text).extra.get('transplant_source') ?? '', 'latin1')).toEqual(
      Buffer.from([0xff, 0x80, 0x00, 0x01]),
    );
  });

  it.each([
    ['-1 0', -1, 0],
    ['1.5 3600', 1.5, 3600],
    ['1e3 0', 1000, 0],
    ['12', 12, 0],
  ])('take the date %p', (date, time, zone) => {
    expect(parse(`${MANIFEST}\nu\n${date}\n\nx`)).toMatchObject({ time, zone });
  });

  it.each([
    ['nothing', ''],
    ['no manifest', 'zz\nu\n0 0\n\nx'],
    ['a manifest in upper case', `${MANIFEST.toUpperCase()}\nu\n0 0\n\nx`],
    ['no date', `${MANIFEST}\nu\nnoon\n\nx`],
    ['a date that is no number', `${MANIFEST}\nu\n1e999 0\n\nx`],
    ['no empty line', `${MANIFEST}\nu\n0 0\na\nb`],
    ['an end after the user', `${MANIFEST}\nu`],
  ])('with %s are a typed error with file and revision', (_, text) => {
    expect(() => parse(text)).toThrow(
      expect.objectContaining({ code: 'HG_CORRUPT', where: expect.objectContaining({ file: '00changelog', rev: 4 }) }),
    );
  });
});
