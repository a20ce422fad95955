export { ByteCursor } from './byte-cursor.ts';
export { type BytesErrorCode, CodedError, type Where } from './coded-error.ts';
export { Gatherer } from './gatherer.ts';
export { latin1Bytes, latin1Text } from './latin1.ts';
export { encodeI32, joinU64, readI32, readU16, readU32, readU48, readU64 } from './numbers.ts';
export { decodeVarint, encodeVarint, MAX_VARINT_BYTES, VarintReader } from './varint.ts';
