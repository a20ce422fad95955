import { cpSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { fixturePath } from '@quicksilver/testing';
import { FileAccess, RevlogFiles, walkRevlog } from '../src/index.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'qs-revlog-'));
  for (const file of ['changelog.i', 'changelog.d', 'deltachain.i'])
    cpSync(fixturePath(`revlog/${file}`), join(folder, file));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('revlogs on disk', () => {
  it.each([
    ['changelog', 15],
    ['deltachain', 200],
  ])('%s is opened, walked and read', (radix, revisions) => {
    using revlog = RevlogFiles.open(folder, radix);
    expect(walkRevlog(revlog.index, { data: revlog.data }).revisions).toBe(revisions);
    const reader = revlog.reader();
    for (let rev = 0; rev < revisions; rev++) expect(reader.checkHash(rev)).toBe('same');
  });

  it('one that is not there has no revisions', () => {
    using revlog = RevlogFiles.open(folder, '00manifest');
    expect(walkRevlog(revlog.index, { data: revlog.data })).toMatchObject({ revisions: 0, storedBytes: 0 });
  });

  it('one whose data is missing is refused by the walk', () => {
    rmSync(join(folder, 'changelog.d'));
    using revlog = RevlogFiles.open(folder, 'changelog');
    expect(() => walkRevlog(revlog.index, { data: revlog.data })).toThrow(
      expect.objectContaining({ code: 'HG_TRUNCATED' }),
    );
  });

  it('one whose data is shortened while it is read is a typed error', () => {
    using revlog = RevlogFiles.open(folder, 'changelog');
    truncateSync(join(folder, 'changelog.d'), 100);
    expect(() => revlog.reader().text(14)).toThrow(
      expect.objectContaining({ code: 'HG_TRUNCATED', where: expect.objectContaining({ file: 'changelog.d' }) }),
    );
  });

  it('one that cannot be opened says why', () => {
    expect(() => RevlogFiles.open(join(folder, 'changelog.i'), '00changelog')).not.toThrow();
    writeFileSync(join(folder, 'x.i'), 'garbage');
    expect(() => RevlogFiles.open(folder, 'x')).toThrow(expect.objectContaining({ code: 'HG_UNSUPPORTED' }));
  });
});

describe('FileAccess', () => {
  it('reads exactly what is asked for, or nothing', () => {
    using file = FileAccess.open(join(folder, 'changelog.d'), 'd');
    expect(file.read(0, 41)).toHaveLength(41);
    expect(file.read(file.size, 0)).toHaveLength(0);
    for (const [offset, length] of [
      [file.size, 1],
      [-1, 1],
      [0, -1],
      [0, file.size + 1],
      [Number.NaN, 1],
    ] as const) {
      expect(() => file.read(offset, length)).toThrow(expect.objectContaining({ code: 'HG_TRUNCATED' }));
    }
  });

  it('refuses to be used after it was closed', () => {
    const file = FileAccess.open(join(folder, 'changelog.d'), 'd');
    file[Symbol.dispose]();
    file[Symbol.dispose]();
    expect(() => file.read(0, 1)).toThrow(expect.objectContaining({ code: 'HG_CLOSED' }));
  });

  it('names a file that is not there', () => {
    expect(() => FileAccess.open(join(folder, 'none'), 'none')).toThrow(
      expect.objectContaining({ code: 'HG_NOT_FOUND', where: expect.objectContaining({ file: 'none' }) }),
    );
  });
});
