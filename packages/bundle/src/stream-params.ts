import { latin1Text } from '@quicksilver/bytes';
import type { CompressionName } from '@quicksilver/codec';
import { HgError, printable } from '@quicksilver/hg-types';
import { asciiLower } from './ascii.ts';
import { quote, unquote } from './url-quoting.ts';

export interface StreamParam {
  /** As written; the map's key is the lower-case form. */
  readonly name: string;
  readonly value: string | undefined;
  readonly mandatory: boolean;
}

export type StreamParams = ReadonlyMap<string, StreamParam>;

const COMPRESSION = 'compression';

/** Names of compression inside bundle files (`hg help internals.bundles`). */
export const BUNDLE_COMPRESSION: ReadonlyMap<string, CompressionName> = new Map([
  ['UN', 'none'],
  ['GZ', 'zlib'],
  ['ZS', 'zstd'],
  ['BZ', 'bzip2'],
]);

/**
 * Layout: hg help internals.bundle2, "Stream Level Parameters": `name[=value]` separated by single spaces, both
 * quoted. A capital first letter makes a parameter mandatory; names compare without case; given twice, the last one
 * counts, but each occurrence must be understood.
 */
export function readStreamParams(block: Uint8Array, offset: number): StreamParams {
  const params = new Map<string, StreamParam>();
  if (block.length === 0) return params;
  for (const item of latin1Text(block).split(' ')) {
    const param = readParam(item, offset);
    const key = asciiLower(param.name);
    if (key === COMPRESSION) readCompression(param.value, offset);
    else if (param.mandatory) {
      throw new HgError('HG_UNSUPPORTED', 'the bundle needs a feature that is not known', {
        streamParameter: printable(param.name),
        offset,
      });
    }
    params.set(key, param);
  }
  return params;
}

function readParam(item: string, offset: number): StreamParam {
  const split = item.indexOf('=');
  const name = unquote(split < 0 ? item : item.slice(0, split));
  if (!/^[A-Za-z]/.test(name)) {
    throw new HgError('HG_CORRUPT', 'a stream parameter has no name that begins with a letter', {
      streamParameter: printable(name),
      offset,
    });
  }
  return { name, value: split < 0 ? undefined : unquote(item.slice(split + 1)), mandatory: /^[A-Z]/.test(name) };
}

function readCompression(value: string | undefined, offset: number): CompressionName {
  const compression = BUNDLE_COMPRESSION.get(value ?? '');
  if (compression !== undefined) return compression;
  throw new HgError('HG_UNSUPPORTED', 'the bundle is compressed in a way that is not known', {
    compression: printable(value ?? ''),
    offset,
  });
}

/** What the parameters say about the body; none said, none done. */
export function compressionOf(params: StreamParams, offset = 0): CompressionName {
  const param = params.get(COMPRESSION);
  return param === undefined ? 'none' : readCompression(param.value, offset);
}

export function writeStreamParams(params: Iterable<readonly [name: string, value: string | undefined]>): string {
  return Array.from(params, ([name, value]) =>
    value === undefined ? quote(name) : `${quote(name)}=${quote(value)}`,
  ).join(' ');
}
