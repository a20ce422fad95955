import { describe, expect, it } from '@jest/globals';
import { runCli } from '../run-cli.ts';

describe('the command line', () => {
  it.each([
    ['an unknown command', ['bogus'], 2, "unknown command 'bogus'"],
    ['an unknown option', ['inspect', 'x', '--bogus'], 2, "unknown option '--bogus'"],
    ['a missing argument', ['clone', 'x'], 2, "missing required argument 'DEST'"],
    ['one argument too many', ['clone', 'a', 'b', 'c'], 2, 'too many arguments'],
    ['a value that is none of the choices', ['clone', 'a', 'b', '--verify', 'much'], 2, 'quick, sample, full'],
    ['a number of threads out of range', ['clone', 'a', 'b', '--threads', '0'], 2, '1 to 64, or "auto"'],
    ['an empty source, which would be the current directory', ['clone', '', 'b'], 2, 'It is empty.'],
    ['an empty destination', ['clone', 'a', ''], 2, 'It is empty.'],
    ['a number of closers that is none', ['clone', 'a', 'b', '--closers', 'auto'], 2, '1 to 64'],
    ['a memory target too small to work with', ['clone', 'a', 'b', '--memory-target', '10K'], 2, '64K or more'],
    ['another way to close', ['clone', 'a', 'b', '--background-close', 'maybe'], 2, 'off, on, auto'],
    ['a port out of range', ['up', '--port', '65536'], 2, '0 to 65535'],
    [
      'another kind of address',
      ['clone', 'ssh://example.org/x', 'b'],
      1,
      'only http:// and https:// are supported yet',
    ],
    ['an address in two readings', ['clone', 'http://example.org/x#y', 'b'], 2, 'write %23'],
    ['a digest of a file', ['clone', '--digest', 'sha256:00', 'a', 'b'], 2, '--digest is for bundles that are fetched'],
    ['a digest that is none', ['clone', '--digest', 'md5:00', 'http://example.org/x', 'b'], 2, 'sha256: or sha512:'],
    [
      'a level of proof that is to come',
      ['clone', 'a', 'b', '--verify', 'full'],
      1,
      '--verify full is not supported yet',
    ],
    ['a checkout', ['clone', '--checkout', 'a', 'b'], 1, '--checkout is not supported yet'],
    ['a checkout of a revision', ['clone', '--checkout=tip', 'a', 'b'], 1, '--checkout is not supported yet'],
    ['doing without streams', ['clone', '--stream', 'never', 'a', 'b'], 1, '--stream never is not supported yet'],
  ])('refuses %s with one sentence', async (_what, args, code, message) => {
    const result = await runCli(args);
    expect(result).toMatchObject({ code, stdout: '' });
    expect(result.stderr).toContain(message);
    expect(result.stderr.trim().split('\n').length).toBeLessThanOrEqual(2);
    expect(result.stderr).not.toMatch(/^\s+at /m);
  });

  it('prints version and help on stdout with exit code 0', async () => {
    expect(await runCli(['--version'])).toMatchObject({ code: 0, stdout: '0.1.0\n', stderr: '' });
    const help = await runCli(['--help']);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    for (const command of ['clone', 'inspect', 'volume', 'up', 'demo']) expect(help.stdout).toContain(`\n  ${command}`);
    expect(await runCli([])).toMatchObject({ code: 0, stdout: help.stdout });
  });

  it('gives the fault as a JSON line with --json, beside the sentence for a person', async () => {
    const result = await runCli(['clone', '--json', '--verify', 'full', 'a', 'b']);
    expect(JSON.parse(result.stdout)).toMatchObject({ type: 'error', code: 'HG_NOT_YET', class: 'format' });
    expect(result.stderr).toMatch(/^quicksilver: /);
  });

  it('adds the stack only with QUICKSILVER_DEBUG=1', async () => {
    const result = await runCli(['clone', '--verify', 'full', 'a', 'b'], { env: { QUICKSILVER_DEBUG: '1' } });
    expect(result.stderr).toMatch(/^\s+at /m);
  });
});
