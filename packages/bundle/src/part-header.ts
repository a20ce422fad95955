import { ByteCursor, latin1Bytes } from '@quicksilver/bytes';
import { HgError, printable } from '@quicksilver/hg-types';
import { asciiLower, hasAsciiUpper } from './ascii.ts';
import { MAX_U8, PART_FIXED_BYTES, SIZE_BYTES } from './layout.ts';

export interface PartParam {
  /** Bytes, one character each. */
  readonly value: string;
  readonly mandatory: boolean;
}

export interface PartHeader {
  /** Lower case: what types are compared by. */
  readonly type: string;
  /** As written. */
  readonly rawType: string;
  /** Any capital letter in the type: a reader that does not know the part must stop. */
  readonly mandatory: boolean;
  readonly id: number;
  /** Length of the header without its length field. */
  readonly headerSize: number;
  /** Where the header lies in the (decompressed) input, behind its length field. */
  readonly offset: number;
  readonly params: ReadonlyMap<string, PartParam>;
}

/**
 * Layout: hg help internals.bundle2, "Part Header"; `header` is what follows its length field, `offset` where that
 * lies in the input. Leftover bytes and repeated keys are refused: two readers must not understand two things.
 */
export function readPartHeader(header: Uint8Array, offset = 0): PartHeader {
  const cursor = new ByteCursor(header, 'part header', offset);
  const rawType = cursor.latin1(cursor.u8());
  const id = cursor.u32();
  const mandatoryCount = cursor.u8();
  const total = mandatoryCount + cursor.u8();
  const sizes = Array.from({ length: total }, () => [cursor.u8(), cursor.u8()] as const);
  const params = new Map<string, PartParam>();
  for (const [i, [keySize, valueSize]] of sizes.entries()) {
    const key = cursor.latin1(keySize);
    if (params.has(key)) {
      throw new HgError('HG_CORRUPT', 'a part has the same parameter twice', {
        part: printable(rawType),
        parameter: printable(key),
        offset,
      });
    }
    params.set(key, { value: cursor.latin1(valueSize), mandatory: i < mandatoryCount });
  }
  cursor.expectEnd();
  return {
    type: asciiLower(rawType),
    rawType,
    mandatory: hasAsciiUpper(rawType),
    id,
    headerSize: header.length,
    offset,
    params,
  };
}

export interface PartHeaderFields {
  /** Written as given: capital letters make it mandatory. */
  readonly type: string;
  readonly id: number;
  readonly mandatory?: Iterable<readonly [key: string, value: string]>;
  readonly advisory?: Iterable<readonly [key: string, value: string]>;
}

/** A part header with its length field in front. */
export function writePartHeader(fields: PartHeaderFields): Uint8Array {
  const type = field(fields.type);
  const mandatory = Array.from(fields.mandatory ?? [], ([key, value]) => [field(key), field(value)] as const);
  const advisory = Array.from(fields.advisory ?? [], ([key, value]) => [field(key), field(value)] as const);
  const params = [...mandatory, ...advisory];
  if (mandatory.length > MAX_U8 || advisory.length > MAX_U8) tooLong('number of parameters', params.length);
  const payload = params.reduce((sum, [key, value]) => sum + 2 + key.length + value.length, 0);
  const size = PART_FIXED_BYTES + type.length + payload;
  const out = new Uint8Array(SIZE_BYTES + size);
  const view = new DataView(out.buffer);
  let at = 0;
  const u8 = (value: number): void => view.setUint8(at++, value);
  const u32 = (value: number): void => {
    view.setUint32(at, value);
    at += 4;
  };
  const raw = (bytes: Uint8Array): void => {
    out.set(bytes, at);
    at += bytes.length;
  };
  u32(size);
  u8(type.length);
  raw(type);
  u32(fields.id);
  u8(mandatory.length);
  u8(advisory.length);
  for (const [key, value] of params) {
    u8(key.length);
    u8(value.length);
  }
  for (const [key, value] of params) {
    raw(key);
    raw(value);
  }
  return out;
}

function field(text: string): Uint8Array {
  const bytes = latin1Bytes(text);
  if (bytes.length > MAX_U8) tooLong(text, bytes.length);
  return bytes;
}

function tooLong(what: string, length: number): never {
  throw new HgError('HG_LIMIT', 'a part header cannot hold it', { what: printable(what), length, limit: MAX_U8 });
}
