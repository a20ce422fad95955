import { createHash } from 'node:crypto';
import { Bundle2Decoder, type BundleHeader, type PartHeader, StreamV1Decoder } from '@quicksilver/bundle';
import { type CompressionName, decompressStream } from '@quicksilver/codec';
import { faultRecord, printable, toHgError } from '@quicksilver/hg-types';
import { PartInspector } from './part-inspector.ts';
import { readHeader } from './read-header.ts';
import { SourceFile } from './source-file.ts';
import { type InspectDetail, StreamInspector } from './stream-inspector.ts';
import type { BundleSummary, ParamSummary } from './summary.ts';
import { Warnings } from './warnings.ts';

export interface InspectOptions extends InspectDetail {
  readonly signal?: AbortSignal | undefined;
}

const PIECE = 1024 * 1024;

/**
 * Reads a bundle through and says what it holds, without judging whether it could be applied. Damage is reported in
 * the summary, after what came before it; a file that cannot be read, or is no bundle, is an error.
 */
export async function inspectBundle(path: string, options: InspectOptions = {}): Promise<BundleSummary> {
  using source = SourceFile.open(path);
  const header = await readHeader(source);
  const digest = options.digests ? { sha256: await fileDigest(source, options.signal) } : {};
  const base = { v: 1, path, size: source.size, ...digest } as const;
  const body = await readBody({ source, header, options });
  source.checkUnchanged();
  return { ...base, kind: header.kind, compression: compressionOf(header), params: paramsOf(header), ...body };
}

type Header<Kind extends BundleHeader['kind']> = Extract<BundleHeader, { kind: Kind }>;
type Body = Pick<BundleSummary, 'bodySize' | 'bodySha256' | 'parts' | 'stream' | 'trailing' | 'output' | 'problem'>;

interface Inspection<H extends BundleHeader = BundleHeader> {
  readonly source: SourceFile;
  readonly header: H;
  readonly options: InspectOptions;
}

function readBody({ source, header, options }: Inspection): Promise<Body> {
  switch (header.kind) {
    case 'HG20':
      return readParts({ source, header, options });
    case 'HGS1':
      return readStream({ source, header, options });
    case 'HG10':
      return readChangegroup({ source, header, options });
  }
}

async function readParts(inspection: Inspection<Header<'HG20'>>): Promise<Body> {
  const { header, options } = inspection;
  const parts: PartInspector[] = [];
  const output = new Warnings();
  const decoder = new Bundle2Decoder(
    {
      part: (part: PartHeader) => {
        const inspector = new PartInspector(part, options);
        parts.push(inspector);
        return inspector;
      },
      output: (line) => output.add(line),
    },
    header.bodyOffset,
  );
  const { behind, ...problem } = await readThrough(inspection, decoder);
  return {
    bodySize: decoder.offset - header.bodyOffset,
    parts: parts.map((part) => part.summary),
    trailing: decoder.trailing + behind,
    output: output.list,
    ...problem,
  };
}

async function readStream(inspection: Inspection<Header<'HGS1'>>): Promise<Body> {
  const { header, options } = inspection;
  const stream = new StreamInspector({ version: 1, ...header.stream }, options);
  const decoder = new StreamV1Decoder(header.stream, stream, header.bodyOffset);
  const { behind, ...problem } = await readThrough(inspection, decoder);
  return {
    bodySize: decoder.offset - header.bodyOffset,
    parts: [],
    stream: stream.summary,
    trailing: decoder.trailing + behind,
    output: [],
    ...problem,
  };
}

/** One changegroup: whoever applies it reads it, here it is only decompressed. */
async function readChangegroup(inspection: Inspection<Header<'HG10'>>): Promise<Body> {
  let bodySize = 0;
  const digest = inspection.options.digests ? createHash('sha256') : undefined;
  const { behind, ...problem } = await readThrough(inspection, {
    push: (piece) => {
      bodySize += piece.length;
      digest?.update(piece);
    },
    end: () => undefined,
  });
  const bodySha256 = digest ? { bodySha256: digest.digest('hex') } : {};
  return { bodySize, ...bodySha256, parts: [], trailing: behind, output: [], ...problem };
}

interface Reader {
  push(piece: Uint8Array): void;
  end(): void;
}

/** Feeds the body to a reader. `behind`: bytes after the end of the compressed data. */
async function readThrough(
  { source, header, options }: Inspection,
  reader: Reader,
): Promise<{ behind: number } & Pick<Body, 'problem'>> {
  let behind = 0;
  try {
    const pieces = source.pieces(header.bodyOffset, PIECE);
    const body = decompressStream(compressionOf(header), pieces, {
      signal: options.signal,
      onTrailing: (bytes) => {
        behind += bytes;
      },
    });
    for await (const piece of body) reader.push(piece);
    reader.end();
  } catch (err) {
    const fault = source.explain(toHgError(err));
    if (fault.class !== 'format' && fault.code !== 'HG_REMOTE_ABORT') throw fault;
    return { behind, problem: faultRecord(fault) };
  }
  return { behind };
}

function compressionOf(header: BundleHeader): CompressionName {
  return header.kind === 'HGS1' ? 'none' : header.compression;
}

function paramsOf(header: BundleHeader): ParamSummary[] {
  if (header.kind !== 'HG20') return [];
  return Array.from(header.params, ([name, { value, mandatory }]) => ({
    name: printable(name),
    ...(value === undefined ? {} : { value: printable(value) }),
    mandatory,
  }));
}

async function fileDigest(source: SourceFile, signal: AbortSignal | undefined): Promise<string> {
  const digest = createHash('sha256');
  for await (const piece of source.pieces(0, PIECE)) {
    signal?.throwIfAborted();
    digest.update(piece);
  }
  return digest.digest('hex');
}
