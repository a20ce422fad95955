import { createHash } from 'node:crypto';
import { truncateSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TmpDir, tmpDir } from '@quicksilver/testing';
import { MAX_MAPPED_BYTES, MappedFile, POPULATE_WINDOW, type Populate } from '../src/index.ts';
import { mappingsOf, pattern } from './support/maps.ts';

const MODES: Populate[] = ['none', 'eager', 'background', 'auto'];
const bytes = pattern(1_500_001);
let dir: TmpDir;
let path = '';
beforeAll(() => {
  dir = tmpDir('quicksilver-mmap');
  path = dir.join('file');
  writeFileSync(path, bytes);
});
afterAll(() => dir[Symbol.dispose]());

const open = (populate: Populate, more: { path?: string; expectedSize?: number } = {}) =>
  MappedFile.open(more.path ?? path, { stable: 'staging', populate, ...more });

describe.each(MODES)('a file mapped with populate %s', (populate) => {
  it('has the bytes of the file', async () => {
    await using file = open(populate);
    expect(file.mapped).toBe(true);
    expect(file.size).toBe(bytes.length);
    expect(bytes.equals(file.bytes)).toBe(true);
    await file.populated();
    expect(bytes.equals(file.bytes)).toBe(true);
    expect(bytes.subarray(70_000, 70_999).equals(file.read(70_000, 999))).toBe(true);
    expect(file.read(file.size, 0)).toHaveLength(0);
  });

  it('is refused after dispose, and what was kept of it is empty', async () => {
    const file = open(populate);
    const whole = file.bytes;
    const part = file.read(10, 20);
    expect(mappingsOf(path)).toBe(1);
    file[Symbol.dispose]();
    file[Symbol.dispose]();
    await file[Symbol.asyncDispose]();
    expect(mappingsOf(path)).toBe(0);
    expect([whole.length, part.length, part.buffer.byteLength]).toEqual([0, 0, 0]);
    for (const use of [() => file.bytes, () => file.read(0, 1)]) {
      expect(use).toThrow(expect.objectContaining({ code: 'HG_CLOSED', where: { file: path } }));
    }
  });

  it('is empty where the file is', () => {
    const empty = dir.join('empty');
    writeFileSync(empty, '');
    using file = open(populate, { path: empty });
    expect(file.bytes).toHaveLength(0);
    expect(() => file.read(0, 1)).toThrow(expect.objectContaining({ code: 'HG_TRUNCATED' }));
  });

  it('K040: is not mapped where it is shorter than it must be, whatever its length', () => {
    const cut = dir.join('cut');
    const whole = pattern(200);
    for (let size = 0; size < whole.length; size++) {
      writeFileSync(cut, whole.subarray(0, size));
      expect(() => open(populate, { path: cut, expectedSize: whole.length })).toThrow(
        expect.objectContaining({ code: 'HG_TRUNCATED', where: { file: cut, size, expected: whole.length } }),
      );
    }
    expect(mappingsOf(cut)).toBe(0);
    writeFileSync(cut, Buffer.concat([whole, whole]));
    using file = open(populate, { path: cut, expectedSize: whole.length });
    expect(whole.equals(file.bytes)).toBe(true);
  });
});

describe('a mapped file', () => {
  it('hands out nothing outside of its size', () => {
    using file = open('none');
    const wrong: [number, number][] = [
      [file.size, 1],
      [-1, 1],
      [0, -1],
      [0, file.size + 1],
      [Number.NaN, 1],
    ];
    for (const [offset, length] of wrong) {
      expect(() => file.read(offset, length)).toThrow(expect.objectContaining({ code: 'HG_TRUNCATED' }));
    }
  });

  it('is closed while another thread brings in its pages: they go by the end of the window', async () => {
    const long = dir.join('long');
    const windows = 2.5;
    writeFileSync(long, 'begin');
    truncateSync(long, POPULATE_WINDOW * windows); // a hole: pages of it are brought in all the same
    for (let round = 0; round < 3; round++) {
      const file = open('background', { path: long });
      const view = file.bytes;
      expect(view[0]).toBe(98);
      file[Symbol.dispose]();
      expect(view).toHaveLength(0);
      await file.populated();
      expect(mappingsOf(long)).toBe(0);
    }
    // Left alone, all windows are brought in.
    await using file = open('background', { path: long });
    await file.populated();
    expect(createHash('sha1').update(file.bytes.subarray(-4096)).digest('hex')).toBe(
      createHash('sha1').update(Buffer.alloc(4096)).digest('hex'),
    );
  });

  it('says which file is not there, and refuses what is no file', () => {
    expect(() => open('none', { path: dir.join('gone') })).toThrow(expect.objectContaining({ code: 'ENOENT' }));
    expect(() => open('none', { path: dir.path })).toThrow(expect.objectContaining({ code: 'HG_UNSUPPORTED' }));
  });

  it('is not made of more than one view can hold', () => {
    const huge = dir.join('huge');
    writeFileSync(huge, '');
    truncateSync(huge, MAX_MAPPED_BYTES + 1);
    expect(() => open('none', { path: huge })).toThrow(
      expect.objectContaining({ code: 'HG_POLICY', where: { file: huge, reason: 'size' } }),
    );
  });

  it('is held to the file systems of this machine', () => {
    // The one file system beside them that every Linux has; its files cannot be mapped in the first place.
    expect(() => open('none', { path: '/proc/self/stat' })).toThrow(
      expect.objectContaining({ code: 'HG_POLICY', where: { file: '/proc/self/stat', reason: 'file-system' } }),
    );
  });
});
