import { writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { fixture, fixturePath, fixtures, tmpDir } from '@quicksilver/testing';
import { runCli } from './run-cli.ts';

interface Sidecar {
  readonly sha256: string;
  readonly parts: readonly {
    readonly type: string;
    readonly payload_size: number;
    readonly files?: readonly { name: string; size: number; sha256: string; src: string }[];
  }[];
}

describe('quicksilver inspect', () => {
  it('shows header, parts and parameters to a person', async () => {
    const result = await runCli(['inspect', fixturePath('stream/basic.stream-v2.hg')]);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(result.stdout.split('\n').slice(1)).toEqual([
      '  HG20: bundle2',
      '  size 9.17 kB, not compressed',
      '  part 0 stream2, mandatory, 9.03 kB',
      '    parameters bytecount=8623 filecount=23 requirements=generaldelta%2Crevlog-compression-zstd%2Crevlogv1%2Csparserevlog',
      '    23 files, 8.62 kB',
      '    requires generaldelta, revlog-compression-zstd, revlogv1, sparserevlog',
      '',
    ]);
  });

  it('lists every file with its digest for programs, as the golden facts say', async () => {
    for (const { path, sidecar } of fixtures('stream', /^(basic|oddpaths|fmt-tree)\.stream-v2/)) {
      const golden = sidecar as Sidecar;
      const result = await runCli(['inspect', '--json', path]);
      const summary = JSON.parse(result.stdout);
      expect(summary).toMatchObject({ type: 'bundle', kind: 'HG20', sha256: golden.sha256 });
      expect(summary.parts).toHaveLength(golden.parts.length);
      for (const [at, part] of golden.parts.entries()) {
        expect(summary.parts[at]).toMatchObject({ type: part.type, payloadSize: part.payload_size });
        const found = summary.parts[at].stream.entries.map((entry: Record<string, unknown>) => entry.sha256);
        expect(found).toEqual(part.files?.map((file) => file.sha256));
      }
    }
  });

  it.each([
    ['bundle/basic.zstd-v2.hg', 0, 'compressed with zstd'],
    ['bundle/basic.bzip2-v1.hg', 0, 'HG10: changegroup bundle'],
    ['bundle/basic.bzip2-v1.hg', 0, '  changegroup 01, 10.4 kB'],
    ['bundle/basic.bzip2-v2.hg', 0, 'part 0 changegroup'],
    ['stream/basic.packed1.hg', 0, 'HGS1: stream clone bundle'],
    ['stream/basic.packed1.hg', 0, '  17 files, 7.22 kB\n  requires generaldelta'],
    ['stream/basic.stream-v3.hg', 0, '    23 files in 22 entries, 8.62 kB'],
    ['hostile/s1-size-nan.hg', 1, 'HGS1: stream clone bundle'],
    ['hostile/s2-filecount-more.hg', 1, '10 files'],
  ])('names what %s is, whether or not it can be cloned', async (path, code, text) => {
    const result = await runCli(['inspect', fixturePath(path)]);
    expect(result.code).toBe(code);
    expect(result.stdout).toContain(text);
  });

  it('shows what came before a cut, then the fault in one sentence, with exit code 1', async () => {
    using dir = tmpDir();
    writeFileSync(dir.join('cut.hg'), fixture('stream/basic.stream-v2.hg').subarray(0, 4000));
    const result = await runCli(['inspect', dir.join('cut.hg')]);
    expect(result.code).toBe(1);
    expect(result.stdout).toContain('part 0 stream2');
    expect(result.stderr).toMatch(/^quicksilver: [^\n]*(too early|before)[^\n]*\n$/);
  });

  it('lets no text of a bundle drive the terminal', async () => {
    for (const { path } of fixtures('hostile', /output|interrupt|error|param/)) {
      const { stdout, stderr } = await runCli(['inspect', path]);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not come out
      expect(`${stdout}${stderr}`).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f]/);
    }
  });
});
