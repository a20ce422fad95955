import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import {
  fixturePath,
  fixtures,
  realHg,
  type SpawnResult,
  serveBytes,
  sourceServer,
  tmpDir,
  waitFor,
} from '@quicksilver/testing';
import { runCli } from './run-cli.ts';

const basic = fixturePath('stream/basic.stream-v2.hg');

/** Hostile streams that are legal, or that K006 wants accepted: they become repositories that hg verifies. */
const ACCEPTED = new Set([
  's1-req-empty',
  's2-empty-requirements',
  's2-filecount-zero',
  's2-fingerprint-param',
  's2-missing-generaldelta',
]);

/** A few at once: each is a process that mostly starts. */
async function inTurns<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const worker = async () => {
    for (const [at, item] of queue) results[at] = await run(item);
  };
  await Promise.all([worker(), worker(), worker()]);
  return results;
}

const oneSentence = (result: SpawnResult) => {
  expect(result.stderr).toMatch(/^quicksilver: [^\n]+\n$/);
  expect(result.stderr).not.toContain('HG_INTERNAL');
};

describe('quicksilver clone', () => {
  it.each(['packed1', 'stream-v3'])('makes one of basic.%s too', async (kind) => {
    using dir = tmpDir();
    const result = await runCli(['clone', fixturePath(`stream/basic.${kind}.hg`), dir.join('repo')]);
    expect(result.code).toBe(0);
    expect(result.stdout).toContain('15 changesets, 3 heads; proved (quick)');
    const phases = /nothing of phases: all its changesets are public/;
    if (kind === 'packed1') expect(result.stderr).toMatch(phases);
    else expect(result.stderr).toBe('');
  });

  it.each(realHg())('makes a repository that hg $version verifies', async (hg) => {
    using dir = tmpDir();
    const result = await runCli(['clone', basic, dir.join('repo')]);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(result.stdout).toMatch(
      /repo: 17 files, 7.22 kB in .*; 15 changesets, 3 heads; proved \(quick\) and flushed\n$/,
    );
    expect(await hg.run(['verify', '-R', dir.join('repo')])).toMatchObject({ code: 0 });
    expect(readdirSync(dir.path)).toEqual(['repo']);
  });

  it('K020, K103: fetches from an address, through cuts, and tells no password', async () => {
    using dir = tmpDir();
    const bytes = readFileSync(basic);
    await using server = await sourceServer((request, response, n) => {
      if (request.url !== '/basic.hg') response.writeHead(403).end();
      else serveBytes(request, response, { bytes, ...(n === 1 ? { cutAfter: 2000 } : {}) });
    });
    const at = (path: string) => server.url(path).replace('//', '//me:hunter2@');
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const args = ['clone', '--json', '--no-flush', '--digest', `sha256:${sha256}`, at('/basic.hg'), dir.join('repo')];
    const result = await runCli(args);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(result.stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
      type: 'result',
      write: { files: 17, fetch: { sha256, digestMatched: true, tries: 2, received: bytes.length } },
    });
    const refused = await runCli(['clone', at('/secret.hg'), dir.join('other')], { env: { QUICKSILVER_DEBUG: '1' } });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(`//me@127.0.0.1:${server.port}/secret.hg`);
    const wrong = ['clone', '--digest', `sha256:${'0'.repeat(64)}`, at('/basic.hg'), dir.join('other')];
    const other = await runCli(wrong);
    expect(other.stderr).toContain('the digest of what was fetched is another than the wanted one');
    for (const { stdout, stderr } of [result, refused, other]) expect(stdout + stderr).not.toContain('hunter2');
    expect(readdirSync(dir.path)).toEqual(['repo']);
  });

  it('tells programs by JSON lines what became of it', async () => {
    using dir = tmpDir();
    const engine = ['--threads', '2', '--memory-target', '1M', '--background-close', 'off', '--closers', '3'];
    const result = await runCli(['clone', '--json', '--no-flush', ...engine, basic, dir.join('repo')]);
    const lines = result.stdout
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    expect(lines.at(-1)).toMatchObject({
      type: 'result',
      path: dir.join('repo'),
      flushed: false,
      proof: { level: 'quick', heads: { count: 3 } },
      // Six more are caches, which are never taken from a stream.
      write: {
        files: 17,
        bytes: 7225,
        settings: { memoryTarget: 2 ** 20, backgroundClose: { mode: 'off', closers: 0, why: 'off, as asked' } },
      },
    });
    expect(result.stderr).toBe('');
  });

  it('ends each hostile stream with one sentence and exit code 1, leaving nothing, or makes a repository of it', async () => {
    using dir = tmpDir();
    const hostile = fixtures('hostile', /^s[12]-/);
    expect(hostile.length).toBeGreaterThan(40);
    const results = await inTurns(hostile, ({ name, path }) => {
      mkdirSync(dir.join(name));
      return runCli(['clone', path, dir.join(name, 'repo')]);
    });
    for (const [at, { name }] of hostile.entries()) {
      const result = results[at];
      if (!result) throw new Error(`${name} was not run`);
      expect({ name, code: result.code }).toEqual({ name, code: ACCEPTED.has(name) ? 0 : 1 });
      expect(readdirSync(dir.join(name))).toEqual(ACCEPTED.has(name) ? ['repo'] : []);
      if (!ACCEPTED.has(name)) oneSentence(result);
    }
  });

  it.each([
    ['a destination that holds something', 'full', /the destination exists/],
    ['a destination below a file', 'file/repo', /exists|not found/],
  ])('refuses %s and leaves it as it was', async (_what, dest, message) => {
    using dir = tmpDir();
    mkdirSync(dir.join('full'));
    writeFileSync(dir.join('full', 'mine'), 'x');
    writeFileSync(dir.join('file'), 'x');
    const before = readdirSync(dir.path, { recursive: true });
    const result = await runCli(['clone', basic, dir.join(dest)]);
    expect(result.code).toBe(1);
    expect(result.stderr).toMatch(message);
    oneSentence(result);
    expect(readdirSync(dir.path, { recursive: true })).toEqual(before);
  });

  it('says that a source is missing, is a directory, or is no bundle', async () => {
    using dir = tmpDir();
    writeFileSync(dir.join('page.html'), '<html>404</html>');
    for (const source of ['missing', '.', 'page.html']) {
      const result = await runCli(['clone', dir.join(source), dir.join('repo')]);
      expect(result.code).toBe(1);
      oneSentence(result);
    }
    expect(readdirSync(dir.path)).toEqual(['page.html']);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'removes what was staged on %s, and says so by its exit code',
    async (signal) => {
      using dir = tmpDir();
      // A pipe that stays open holds the clone in the middle of its work, however fast the machine is.
      const driver = fileURLToPath(new URL('./held-clone.ts', import.meta.url));
      const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', driver, basic, dir.join('repo')]);
      let stderr = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr += text;
      });
      const exit = new Promise((resolve) => child.once('close', resolve));
      await waitFor(() => stderr.includes('held'), { what: 'the clone to be under way' });
      expect(readdirSync(dir.path).map((name) => name.replace(/-[0-9a-f]{8}$/, ''))).toEqual(['.repo.quicksilver']);
      child.kill(signal);
      expect(await exit).toBe(signal === 'SIGINT' ? 130 : 143);
      expect(stderr).toMatch(/stopping, and removing what was written/);
      expect(stderr.endsWith(`quicksilver: stopped by ${signal}\n`)).toBe(true);
      expect(readdirSync(dir.path)).toEqual([]);
    },
  );

  it('takes an empty directory as destination, and blanks and odd characters in names', async () => {
    using dir = tmpDir();
    const dest = dir.join("a # b%23 'ü'");
    mkdirSync(dest);
    expect(await runCli(['clone', basic, dest])).toMatchObject({ code: 0 });
    expect(statSync(`${dest}/.hg/store`).isDirectory()).toBe(true);
  });
});
