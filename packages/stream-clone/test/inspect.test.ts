import { describe, expect, it } from '@jest/globals';
import { fixturePath, fixtures, tmpDir } from '@quicksilver/testing';
import { inspectBundle } from '../src/inspect.ts';
import { indexBytes, part, save, streamBundle } from './support/bundles.ts';

interface Sidecar {
  readonly size: number;
  readonly sha256: string;
  readonly trailing_after_end: number;
  readonly decompressed_body_size: number;
  readonly parts: readonly {
    readonly type: string;
    readonly raw_type: string;
    readonly mandatory: boolean;
    readonly id: number;
    readonly header_size: number;
    readonly payload_size: number;
    readonly payload_sha256: string;
    readonly mandatory_params: readonly (readonly [string, string])[];
    readonly advisory_params: readonly (readonly [string, string])[];
    readonly files?: readonly { src: string; name: string | { hex: string }; size: number; sha256: string }[];
  }[];
}

const STREAMS = [...fixtures('stream', /\.stream-v2\.hg$/), ...fixtures('hg6', /\.stream-v2\.hg$/)];
/** Other bundles in the same container, by every compression. */
const OTHERS = fixtures('bundle', /\.(none|gzip|zstd|bzip2)-v[23].*\.hg$/);

describe('inspectBundle', () => {
  it.each(STREAMS)('finds the facts of $name', async ({ path, sidecar }) => {
    const facts = sidecar as Sidecar;
    const summary = await inspectBundle(path, { files: true, digests: true });
    expect(summary).toMatchObject({
      size: facts.size,
      sha256: facts.sha256,
      kind: 'HG20',
      bodySize: facts.decompressed_body_size,
      trailing: facts.trailing_after_end,
    });
    expect(summary.problem).toBeUndefined();
    const listed = summary.parts[0]?.stream?.entries?.map(({ source, ...file }) => ({ src: source, ...file }));
    expect(listed).toEqual(facts.parts[0]?.files?.map((file) => ({ ...file, name: latin1Name(file.name) })));
  });

  it.each([...STREAMS, ...OTHERS])('lists the parts of $name', async ({ path, sidecar }) => {
    const facts = sidecar as Partial<Sidecar>;
    const { parts, bodySize, kind } = await inspectBundle(path, { digests: true });
    if (kind !== 'HG20') return;
    expect(bodySize).toBe(facts.decompressed_body_size);
    expect(
      parts.map((p) => [p.type, p.rawType, p.mandatory, p.id, p.headerSize, p.payloadSize, p.payloadSha256]),
    ).toEqual(
      facts.parts?.map((p) => [p.type, p.raw_type, p.mandatory, p.id, p.header_size, p.payload_size, p.payload_sha256]),
    );
    expect(parts.map((p) => p.params.map(({ name, value }) => [name, value]))).toEqual(
      facts.parts?.map((p) => [...p.mandatory_params, ...p.advisory_params]),
    );
  });

  it('names the other containers without reading them', async () => {
    expect(await inspectBundle(fixturePath('bundle/basic.gzip-v1.hg'))).toMatchObject({
      kind: 'HG10',
      compression: 'zlib',
      parts: [],
    });
    expect(await inspectBundle(fixturePath('stream/basic.packed1.hg'))).toMatchObject({ kind: 'HGS1', parts: [] });
  });

  it('reports damage after what came before it', async () => {
    using dir = tmpDir();
    const parts = [part('BOOKMARKS', Buffer.concat([Buffer.alloc(20, 1), Buffer.from([0, 1, 0x61])]))];
    const whole = streamBundle([{ name: 'data/a.i', bytes: indexBytes(70) }], { parts });
    expect(await inspectBundle(save(dir, whole))).toMatchObject({
      parts: [{ stream: { files: 1, bytes: 70 } }, { bookmarks: [{ name: 'a', node: '01'.repeat(20) }] }],
    });
    const cut = await inspectBundle(save(dir, whole.subarray(0, -20)));
    expect(cut).toMatchObject({
      problem: { code: 'HG_TRUNCATED' },
      parts: [{ type: 'stream2' }, { type: 'bookmarks' }],
    });
    const abort = await inspectBundle(fixturePath('hostile/part-error-abort.hg'));
    expect(abort).toMatchObject({ problem: { code: 'HG_REMOTE_ABORT', where: { message: 'go away' } } });
  });

  it('makes what a writer says safe for a terminal', async () => {
    const { output } = await inspectBundle(fixturePath('hostile/part-output-ansi.hg'));
    expect(output.join('')).toContain('\\x1b');
  });

  it('fails where there is nothing to inspect', async () => {
    await expect(inspectBundle(fixturePath('hostile/magic-PK.hg'))).rejects.toMatchObject({ code: 'HG_NOT_BUNDLE' });
    await expect(inspectBundle('/nonexistent.hg')).rejects.toMatchObject({ code: 'HG_NOT_FOUND' });
    const signal = AbortSignal.abort();
    await expect(inspectBundle(fixturePath('stream/big.stream-v2.hg'), { signal })).rejects.toMatchObject({
      code: 'HG_CANCELLED',
    });
  });
});

function latin1Name(name: string | { hex: string }): string {
  return (typeof name === 'string' ? Buffer.from(name, 'utf8') : Buffer.from(name.hex, 'hex')).toString('latin1');
}
