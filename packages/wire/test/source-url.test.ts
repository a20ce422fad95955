import { describe, expect, it } from '@jest/globals';
import { parseSourceUrl } from '../src/source-url.ts';

const of = (text: string): string => parseSourceUrl(text).href;

describe('addresses', () => {
  it('K056: equal forms are one address', () => {
    expect(of('HTTPS://Example.COM:443/a/./b/../c.hg')).toBe('https://example.com/a/c.hg');
    expect(of('http://example.com:80')).toBe('http://example.com/');
    expect(of('http://h/a b.hg')).toBe('http://h/a%20b.hg');
    expect(of('http://h/%7euser/%c3%BC.hg')).toBe('http://h/~user/%C3%BC.hg');
    expect(of('http://h/ü.hg')).toBe('http://h/%C3%BC.hg');
  });

  it('K056: different forms are different addresses', () => {
    const forms = ['/a%23b', '/a+b', '/a%2Bb', '/a%20b', '/a', '/a/', '/A', '/a?b', '/a%3Fb', '/a%2Fb', '/a/b'];
    expect(new Set(forms.map((path) => of(`http://h${path}`))).size).toBe(forms.length);
    expect(of('http://h:8080/a')).not.toBe(of('http://h/a'));
    expect(of('http://h/a')).not.toBe(of('https://h/a'));
  });

  it.each([
    'http://h/a#b',
    'ftp://h/a',
    'http:h/a',
    'http:///a',
    'http://h\\a',
    'http://h/a\nb',
    'http://[::1/a',
    'http://h:99999/',
    `http://h/${'a'.repeat(5000)}`,
    '//h/a',
  ])('%j is refused rather than guessed at', (text) => {
    expect(() => parseSourceUrl(text)).toThrow(expect.objectContaining({ code: 'HG_USAGE' }));
  });

  it('K103: the password is kept apart, and neither it nor the query is shown', () => {
    const source = parseSourceUrl('https://me:s%40cret@h:8443/a.hg?sig=s3same');
    expect(source).toEqual({
      href: 'https://h:8443/a.hg?sig=s3same',
      auth: 'me:s@cret',
      shown: 'https://me@h:8443/a.hg',
      hasQuery: true,
    });
  });

  it('K103: a refusal repeats nothing of the address', () => {
    for (const text of ['http://u:secret@h:99999/', 'http://u:secret@/x', 'http://u:secret@h/#x']) {
      let said = '';
      try {
        parseSourceUrl(text);
      } catch (err) {
        said = JSON.stringify(err, Object.getOwnPropertyNames(err));
      }
      expect(said).toContain('HG_USAGE');
      expect(said).not.toContain('secret');
    }
  });
});
