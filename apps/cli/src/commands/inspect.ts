import { resolve } from 'node:path';
import { describeFault, printable } from '@quicksilver/hg-types';
import {
  type BundleSummary,
  inspectBundle,
  type ParamSummary,
  type PartSummary,
  type StreamSummary,
} from '@quicksilver/stream-clone';
import { EXIT } from '../cli/exit-codes.ts';
import { type CommonFlags, inSession, OK, Session } from '../cli/session.ts';
import { formatBytes, formatCount, plural } from '../terminal/format.ts';

export type InspectFlags = CommonFlags;

/** What a bundle holds. Damage is shown after what came before it, with exit code 1. */
export function inspect(path: string, flags: InspectFlags): Promise<number> {
  return inSession(new Session(flags), async (session) => {
    const detail = { files: session.json, digests: session.json };
    const summary = await inspectBundle(resolve(path), { ...detail, signal: session.signal });
    session.record('bundle', summary);
    session.say(describeBundle(summary).map(printable).join('\n'));
    if (!summary.problem) return OK;
    process.stderr.write(`quicksilver: ${describeFault(summary.problem)}\n`);
    return EXIT.failed;
  });
}

const CONTAINERS = {
  HG20: 'bundle2',
  HG10: 'changegroup bundle (version 1)',
  HGS1: 'stream clone bundle (version 1)',
} as const satisfies Record<BundleSummary['kind'], string>;

export function describeBundle(summary: BundleSummary): string[] {
  const { path, size, kind, compression, params, parts, stream, trailing, output } = summary;
  return [
    path,
    `  ${kind}: ${CONTAINERS[kind]}`,
    `  size ${formatBytes(size)}, ${compression === 'none' ? 'not compressed' : `compressed with ${compression}`}`,
    ...(params.length > 0 ? [`  parameters ${paramList(params)}`] : []),
    ...(kind === 'HG10' ? [`  changegroup 01, ${formatBytes(summary.bodySize)}`] : []),
    ...parts.flatMap(describePart),
    ...(stream ? describeStream(stream).map((line) => `  ${line}`) : []),
    ...output.map((line) => `  its writer said: ${line}`),
    ...(trailing > 0 ? [`  ${formatBytes(trailing)} behind the end of the bundle`] : []),
  ];
}

function describePart(part: PartSummary): string[] {
  const { id, type, mandatory, payloadSize, params, stream, bookmarks, phaseHeads } = part;
  const lines = [`  part ${id} ${type}, ${mandatory ? 'mandatory' : 'advisory'}, ${formatBytes(payloadSize)}`];
  if (params.length > 0) lines.push(`    parameters ${paramList(params)}`);
  if (stream) lines.push(...describeStream(stream).map((line) => `    ${line}`));
  if (bookmarks) lines.push(`    ${plural(bookmarks.length, 'bookmark')}`);
  if (phaseHeads) lines.push(`    ${plural(phaseHeads.length, 'phase head')}`);
  return lines;
}

function describeStream({ files, bytes, groups, requirements }: StreamSummary): string[] {
  const entries = groups === undefined ? '' : ` in ${formatCount(groups)} ${groups === 1 ? 'entry' : 'entries'}`;
  return [
    `${plural(files, 'file')}${entries}, ${formatBytes(bytes)}`,
    `requires ${requirements.join(', ') || 'nothing'}`,
  ];
}

/** Capital or small as on the wire: mandatory ones are marked, as an unknown one of them is refused. */
function paramList(params: readonly ParamSummary[]): string {
  return params
    .map(
      ({ name, value, mandatory }) =>
        `${name}${value === undefined ? '' : `=${value}`}${mandatory ? '' : ' (advisory)'}`,
    )
    .join(' ');
}
