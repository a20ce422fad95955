import { createHash } from 'node:crypto';
import { Bundle2Decoder, type BundleHeader, type PartHeader } from '@quicksilver/bundle';
import { decompressStream } from '@quicksilver/codec';
import { faultRecord, printable, toHgError } from '@quicksilver/hg-types';
import { type InspectDetail, PartInspector } from './part-inspector.ts';
import { readHeader } from './read-header.ts';
import { SourceFile } from './source-file.ts';
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
  const body = header.kind === 'HG20' ? await readBody(source, header, options) : NO_BODY;
  source.checkUnchanged();
  const compression = header.kind === 'HGS1' ? 'none' : header.compression;
  return { ...base, kind: header.kind, compression, params: paramsOf(header), ...body };
}

type Body = Pick<BundleSummary, 'bodySize' | 'parts' | 'trailing' | 'output' | 'problem'>;

/** The other containers are named, but their bodies are not read yet. */
const NO_BODY: Body = { parts: [], trailing: 0, output: [] };

async function readBody(
  source: SourceFile,
  header: Extract<BundleHeader, { kind: 'HG20' }>,
  options: InspectOptions,
): Promise<Body> {
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
  let behind = 0;
  let problem: Pick<Body, 'problem'> = {};
  try {
    const pieces = source.pieces(header.bodyOffset, PIECE);
    const body = decompressStream(header.compression, pieces, {
      signal: options.signal,
      onTrailing: (bytes) => {
        behind += bytes;
      },
    });
    for await (const piece of body) decoder.push(piece);
    decoder.end();
  } catch (err) {
    const fault = source.explain(toHgError(err));
    if (fault.class !== 'format' && fault.code !== 'HG_REMOTE_ABORT') throw fault;
    problem = { problem: faultRecord(fault) };
  }
  return {
    bodySize: decoder.offset - header.bodyOffset,
    parts: parts.map((part) => part.summary),
    trailing: decoder.trailing + behind,
    output: output.list,
    ...problem,
  };
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
