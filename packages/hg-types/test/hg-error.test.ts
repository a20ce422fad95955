import { describe, expect, it } from '@jest/globals';
import { CodedError } from '@quicksilver/bytes';
import { ERROR_CODES, isHgErrorCode } from '../src/error-codes.ts';
import { describeFault, faultError, faultRecord, HgError, printable, toHgError } from '../src/hg-error.ts';

describe('error codes', () => {
  it('every code says what to do next, in a sentence', () => {
    for (const facts of Object.values(ERROR_CODES)) expect(facts.advice).toMatch(/^[A-Z].*[.]$/s);
  });

  it('does not take inherited property names for codes', () => {
    expect(isHgErrorCode('constructor')).toBe(false);
    expect(isHgErrorCode('HG_TRUNCATED')).toBe(true);
  });
});

describe('toHgError', () => {
  it('keeps code and facts of an error of another class (it crossed a thread, or came from a lower package)', () => {
    const hg = toHgError(new CodedError('HG_LIMIT', 'too long', { offset: 7 }), { file: 'a.hg' });
    expect(hg).toBeInstanceOf(HgError);
    expect([hg.code, hg.where]).toEqual(['HG_LIMIT', { file: 'a.hg', offset: 7 }]);
  });

  it.each([
    ['ENOSPC', 'HG_NO_SPACE', 'storage', false],
    ['EDQUOT', 'HG_NO_SPACE', 'storage', false],
    ['EFBIG', 'HG_FILE_LIMIT', 'storage', false],
    ['EIO', 'HG_IO', 'storage', true],
    ['EMFILE', 'HG_TOO_MANY_FILES', 'storage', true],
    ['EROFS', 'HG_READ_ONLY', 'storage', false],
  ])('K119: errno %s becomes %s of class %s', (errno, code, faultClass, retryable) => {
    const err = Object.assign(new Error('x'), { code: errno, syscall: 'write', path: '/v/f' });
    const fault = faultRecord(err);
    expect(fault).toMatchObject({ code, class: faultClass, retryable, where: { call: 'write', file: '/v/f' } });
  });

  it('takes what it does not know for our own bug, with the message kept', () => {
    expect(faultRecord(new TypeError('x is undefined'))).toMatchObject({ code: 'HG_INTERNAL', class: 'bug' });
    expect(faultRecord('text')).toMatchObject({ code: 'HG_INTERNAL', message: 'text' });
  });

  it('survives the way over JSON, and reads a code of a newer peer as a bug', () => {
    const record = faultRecord(new HgError('HG_UNPROVED', 'a head is missing', { head: 'ab' }));
    const back = faultError(JSON.parse(JSON.stringify(record)));
    expect(faultRecord(back)).toEqual(record);
    expect(faultError({ code: 'HG_FROM_LATER', message: 'm' }).code).toBe('HG_INTERNAL');
  });
});

describe('describeFault', () => {
  it('K119: one sentence with the facts, then what to do, and no stack', () => {
    const text = describeFault(faultRecord(new HgError('HG_NO_SPACE', 'the volume is full', { wanted: 10, free: 3 })));
    expect(text).toBe(
      'the volume is full (wanted 10, free 3). The volume is full: free room on it, or give the mirror another volume, then clone again.',
    );
    expect(text).not.toMatch(/\n|at .*\.ts/);
  });

  it('escapes control characters and direction overrides that came from a bundle', () => {
    expect(printable('a\u001b[31mb\n\u202ec')).toBe('a\\x1b[31mb\\x0a\\x202ec');
  });
});
