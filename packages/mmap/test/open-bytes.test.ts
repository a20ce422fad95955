import { truncateSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TmpDir, tmpDir, waitFor } from '@quicksilver/testing';
import {
  isLocalMagic,
  MAX_MAPPED_BYTES,
  type OpenBytesOptions,
  openBytes,
  POPULATE_WINDOW,
  planPopulate,
} from '../src/index.ts';
import { mappingsOf, pattern } from './support/maps.ts';

const bytes = pattern(1_500_001);
let dir: TmpDir;
let path = '';
beforeAll(() => {
  dir = tmpDir('quicksilver-mmap');
  path = dir.join('file');
  writeFileSync(path, bytes);
});
afterAll(() => dir[Symbol.dispose]());

const ways: [string, boolean, OpenBytesOptions][] = [
  ['of a staging folder', true, { stable: 'staging' }],
  ['of the spool, populated', true, { stable: 'spool', populate: 'eager' }],
  ['of a generation that is held open, for a few places', true, { stable: 'generation', expectedUse: 'sparse' }],
  ['of a locked store, in the background', true, { stable: 'locked-store', populate: 'background' }],
  ['of somebody else', false, {}],
  ['of somebody else, whatever is wanted', false, { populate: 'eager' }],
];

describe('the bytes of a file', () => {
  it.each(ways)('%s: mapped %s, and the same', async (_whose, mapped, options) => {
    using file = openBytes(path, options);
    expect([file.mapped, file.size, mappingsOf(path)]).toEqual([mapped, bytes.length, mapped ? 1 : 0]);
    expect(bytes.subarray(1_000_000, 1_000_099).equals(file.read(1_000_000, 99))).toBe(true);
    expect(bytes.equals(file.bytes)).toBe(true);
    expect(bytes.subarray(5, 7).equals(file.read(5, 2))).toBe(true);
    expect(() => file.read(bytes.length, 1)).toThrow(expect.objectContaining({ code: 'HG_TRUNCATED' }));
    file[Symbol.dispose]();
    expect(() => file.bytes).toThrow(expect.objectContaining({ code: 'HG_CLOSED' }));
    expect(() => file.read(0, 1)).toThrow(expect.objectContaining({ code: 'HG_CLOSED' }));
    // Pages that are on their way in go once they are there.
    await waitFor(() => mappingsOf(path) === 0, { what: 'the pages are given back' });
  });

  it.each([[{}], [{ stable: 'staging' }]] as [OpenBytesOptions][])('K040: cut to any length, %j', (options) => {
    const cut = dir.join('cut');
    const whole = pattern(150);
    for (let size = 0; size <= whole.length; size++) {
      writeFileSync(cut, whole.subarray(0, size));
      const use = () => {
        using file = openBytes(cut, { ...options, expectedSize: whole.length, name: 'cut' });
        return Buffer.from(file.bytes);
      };
      if (size === whole.length) expect(use().equals(whole)).toBe(true);
      else
        expect(use).toThrow(
          expect.objectContaining({ code: 'HG_TRUNCATED', where: expect.objectContaining({ file: 'cut' }) }),
        );
    }
  });

  it.each([150, 1_500_000])('that is cut while it is read is a typed error (%d bytes)', (size) => {
    const cut = dir.join('cut');
    writeFileSync(cut, pattern(size));
    using file = openBytes(cut);
    truncateSync(cut, 100);
    expect(() => file.read(50, 100)).toThrow(expect.objectContaining({ code: 'HG_TRUNCATED' }));
    expect(() => file.bytes).toThrow(expect.objectContaining({ code: 'HG_TRUNCATED' }));
  });

  it('is read where the file is small, unless the caller insists', () => {
    const small = dir.join('small');
    writeFileSync(small, 'small');
    using read = openBytes(small, { stable: 'staging' });
    using mapped = openBytes(small, { stable: 'staging', populate: 'none' });
    expect([read.mapped, mapped.mapped]).toEqual([false, true]);
    expect(Buffer.from(read.bytes)).toEqual(Buffer.from(mapped.bytes));
  });

  it('is read in place where it is larger than a mapping may be, and never held whole', () => {
    const huge = dir.join('huge');
    writeFileSync(huge, '');
    truncateSync(huge, MAX_MAPPED_BYTES + 1);
    using file = openBytes(huge, { stable: 'staging' });
    expect(file.mapped).toBe(false);
    expect([...file.read(MAX_MAPPED_BYTES, 1)]).toEqual([0]);
    expect(() => file.bytes).toThrow(expect.objectContaining({ code: 'HG_LIMIT' }));
  });

  it('is empty, read or mapped', () => {
    const empty = dir.join('empty');
    writeFileSync(empty, '');
    for (const options of [{}, { stable: 'staging', populate: 'none' }] as OpenBytesOptions[]) {
      using file = openBytes(empty, options);
      expect(file.bytes).toHaveLength(0);
    }
  });
});

describe('what is mapped', () => {
  it('is on file systems of this machine only', () => {
    const tmpfs = 0x01021994;
    const [nfs, smb2, cifs, ninep, fuse, ceph] = [0x6969, 0xfe534d42, 0xff534d42, 0x01021997, 0x65735546, 0x00c36400];
    expect([tmpfs, 0xef53, 0x9123683e, 0x9123683e | 0].map(isLocalMagic)).toEqual([true, true, true, true]);
    expect([nfs, smb2, cifs, ninep, fuse, ceph, 0].map((magic) => isLocalMagic(magic))).not.toContain(true);
  });

  it('is populated as the caller says, or by use and size', () => {
    const question = { size: 5 << 20, expectedUse: 'whole' } as const;
    expect(planPopulate('none', question)).toBe('none');
    expect(planPopulate('auto', question)).toBe('background');
    expect(planPopulate('auto', { ...question, expectedUse: 'sparse' })).toBe('background');
    expect(planPopulate('auto', { size: POPULATE_WINDOW + 1, expectedUse: 'sparse' })).toBe('none');
    expect(planPopulate('auto', { size: POPULATE_WINDOW + 1, expectedUse: 'whole' })).toBe('background');
  });
});
