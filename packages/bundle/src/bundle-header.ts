import { encodeI32, latin1Bytes, latin1Text, readI32 } from '@quicksilver/bytes';
import type { CompressionName } from '@quicksilver/codec';
import { HgError, printable } from '@quicksilver/hg-types';
import {
  HG10_BZIP2_BODY,
  HG10_FIXED_BYTES,
  HG20_FIXED_BYTES,
  HGS1_FIXED_BYTES,
  MAX_STREAM_PARAMS,
  SIZE_BYTES,
} from './layout.ts';
import {
  BUNDLE_COMPRESSION,
  compressionOf,
  readStreamParams,
  type StreamParams,
  writeStreamParams,
} from './stream-params.ts';
import { readStream1Params, type Stream1Params, stream1HeaderSize } from './stream-v1-header.ts';

/** How a bundle file begins. `bodyOffset` is where the (compressed) body starts. */
export type BundleHeader =
  | {
      readonly kind: 'HG20';
      readonly params: StreamParams;
      readonly compression: CompressionName;
      readonly bodyOffset: number;
    }
  /** A changegroup of version 01. */
  | { readonly kind: 'HG10'; readonly compression: CompressionName; readonly bodyOffset: number }
  /** A stream clone of version 1. */
  | { readonly kind: 'HGS1'; readonly stream: Stream1Params; readonly bodyOffset: number };

const MAGIC_BYTES = 4;

/**
 * Layout: hg help internals.bundles. Undefined asks for more of the input (never more than MAX_HEADER bytes in all);
 * with `atEnd`, when there is no more, it is an error instead. The same bytes give the same answer however they came.
 */
export function readBundleHeader(prefix: Uint8Array, atEnd: boolean): BundleHeader | undefined {
  const magic = latin1Text(prefix.subarray(0, MAGIC_BYTES));
  if (!'HG'.startsWith(magic.slice(0, 2))) {
    throw new HgError('HG_NOT_BUNDLE', 'the input does not begin like a bundle', { begins: printable(magic) });
  }
  if (magic.length < MAGIC_BYTES) return more({ wanted: MAGIC_BYTES, left: magic.length, atEnd });
  switch (magic) {
    case 'HG20':
      return readHg20(prefix, atEnd);
    case 'HG10':
      return readHg10(prefix, atEnd);
    case 'HGS1':
      return readHgs1(prefix, atEnd);
    default:
      throw new HgError('HG_UNSUPPORTED', 'the bundle is of a version that is not known', {
        version: printable(magic.slice(2)),
      });
  }
}

function readHg20(prefix: Uint8Array, atEnd: boolean): BundleHeader | undefined {
  const left = prefix.length;
  if (left < HG20_FIXED_BYTES) return more({ wanted: HG20_FIXED_BYTES, left, atEnd });
  const size = readI32(prefix, MAGIC_BYTES);
  const where = { field: 'stream parameters', offset: MAGIC_BYTES, size };
  if (size < 0) throw new HgError('HG_CORRUPT', 'a size is negative', where);
  if (size > MAX_STREAM_PARAMS) {
    throw new HgError('HG_LIMIT', 'the stream parameters are too long', { ...where, limit: MAX_STREAM_PARAMS });
  }
  const bodyOffset = HG20_FIXED_BYTES + size;
  if (left < bodyOffset) return more({ wanted: bodyOffset, left, atEnd });
  const params = readStreamParams(prefix.subarray(HG20_FIXED_BYTES, bodyOffset), HG20_FIXED_BYTES);
  return { kind: 'HG20', params, compression: compressionOf(params, HG20_FIXED_BYTES), bodyOffset };
}

function readHg10(prefix: Uint8Array, atEnd: boolean): BundleHeader | undefined {
  if (prefix.length < HG10_FIXED_BYTES) return more({ wanted: HG10_FIXED_BYTES, left: prefix.length, atEnd });
  const name = latin1Text(prefix.subarray(MAGIC_BYTES, HG10_FIXED_BYTES));
  const compression = BUNDLE_COMPRESSION.get(name);
  if (compression === undefined || compression === 'zstd') {
    throw new HgError('HG_UNSUPPORTED', 'the bundle is compressed in a way that is not known', {
      compression: printable(name),
      offset: MAGIC_BYTES,
    });
  }
  return { kind: 'HG10', compression, bodyOffset: compression === 'bzip2' ? HG10_BZIP2_BODY : HG10_FIXED_BYTES };
}

function readHgs1(prefix: Uint8Array, atEnd: boolean): BundleHeader | undefined {
  if (prefix.length < HGS1_FIXED_BYTES) return more({ wanted: HGS1_FIXED_BYTES, left: prefix.length, atEnd });
  const name = latin1Text(prefix.subarray(MAGIC_BYTES, HGS1_FIXED_BYTES));
  if (name !== 'UN') {
    throw new HgError('HG_UNSUPPORTED', 'a stream clone of version 1 is never compressed', {
      compression: printable(name),
      offset: MAGIC_BYTES,
    });
  }
  const header = readStream1Params(prefix);
  if (header === undefined) return more({ wanted: stream1HeaderSize(prefix), left: prefix.length, atEnd });
  return { kind: 'HGS1', stream: header.params, bodyOffset: header.bodyOffset };
}

function more(state: { wanted: number; left: number; atEnd: boolean }): undefined {
  if (!state.atEnd) return undefined;
  throw new HgError('HG_TRUNCATED', 'the input ends inside the header', {
    field: 'bundle header',
    offset: 0,
    wanted: state.wanted,
    left: state.left,
  });
}

/** The header of an HG20 bundle. */
export function writeBundleHeader(
  params: Iterable<readonly [name: string, value: string | undefined]> = [],
): Uint8Array {
  const block = latin1Bytes(writeStreamParams(params));
  const header = new Uint8Array(HG20_FIXED_BYTES + block.length);
  header.set(latin1Bytes('HG20'));
  header.set(encodeI32(block.length), HG20_FIXED_BYTES - SIZE_BYTES);
  header.set(block, HG20_FIXED_BYTES);
  return header;
}
