import { describe, expect, it } from '@jest/globals';
import { fixturePath, fixtures, tmpDir } from '@quicksilver/testing';
import { inspectBundle } from '../src/inspect.ts';
import { indexBytes, part, save, streamBundle } from './support/bundles.ts';
import { type SidecarFile, type StreamSidecar, storeName, streamedFiles } from './support/streamed.ts';

interface Sidecar {
  readonly size: number;
  readonly sha256: string;
  readonly trailing_after_end: number;
  readonly decompressed_body_size: number;
  readonly decompressed_body_sha256: string;
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
    readonly files?: readonly SidecarFile[];
    readonly entries?: readonly (readonly SidecarFile[])[];
  }[];
  readonly stream1?: {
    readonly filecount: number;
    readonly bytecount: number;
    readonly requirements: string;
    readonly requirements_raw_length: number;
    readonly files: readonly Omit<SidecarFile, 'src'>[];
  };
}

const STREAMS = [...fixtures('stream', /\.stream-v[23]\.hg$/), ...fixtures('hg6', /\.stream-v2\.hg$/)];
const PACKED = [...fixtures('stream', /\.packed1\.hg$/), ...fixtures('hg6', /\.packed1\.hg$/)];
/** HG10 by every compression. */
const CHANGEGROUPS = fixtures('bundle', /(-v1|cg01)\.hg$/);
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
    const stream = summary.parts[0]?.stream;
    expect(stream?.entries).toEqual(listed(facts));
    expect(stream?.groups).toBe(facts.parts[0]?.entries?.length);
    expect(stream?.version).toBe(facts.parts[0]?.entries ? 3 : 2);
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

  it.each(PACKED)('finds the facts of $name', async ({ path, sidecar }) => {
    const { stream1, size, sha256, decompressed_body_size } = sidecar as Sidecar;
    const summary = await inspectBundle(path, { files: true, digests: true });
    expect(summary).toMatchObject({ size, sha256, kind: 'HGS1', compression: 'none', parts: [], trailing: 0 });
    // The sidecar counts the rest of the header as well.
    expect(summary.bodySize).toBe(decompressed_body_size - 18 - (stream1?.requirements_raw_length ?? 0));
    expect(summary.problem).toBeUndefined();
    expect(summary.stream).toMatchObject({
      version: 1,
      announced: { files: stream1?.filecount, bytes: stream1?.bytecount },
      requirements: stream1?.requirements.split(','),
      files: stream1?.filecount,
      bytes: stream1?.bytecount,
    });
    expect(summary.stream?.entries).toEqual(listed(sidecar as Sidecar));
  });

  it.each(CHANGEGROUPS)('decompresses $name', async ({ path, sidecar }) => {
    const facts = sidecar as Sidecar;
    expect(await inspectBundle(path, { digests: true })).toMatchObject({
      size: facts.size,
      sha256: facts.sha256,
      kind: 'HG10',
      bodySize: facts.decompressed_body_size,
      bodySha256: facts.decompressed_body_sha256,
      parts: [],
      trailing: 0,
    });
  });

  it.each([
    ['trunc-cg-bzip2-v1-at-half', 'HG_TRUNCATED'],
    ['trunc-cg-bzip2-v1-at-minus1', 'HG_TRUNCATED'],
    ['trunc-packed1-at-half', 'HG_TRUNCATED'],
    ['s1-size-nan', 'HG_CORRUPT'],
    ['bomb-bzip2-64M', 'HG_LIMIT'],
  ])('says what is wrong with %s', async (name, code) => {
    expect(await inspectBundle(fixturePath(`hostile/${name}.hg`))).toMatchObject({ problem: { code } });
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

function listed(sidecar: StreamSidecar): unknown {
  return streamedFiles(sidecar).map(({ src, size, sha256, ...file }) => ({
    source: src,
    name: storeName(file),
    size,
    sha256,
  }));
}
