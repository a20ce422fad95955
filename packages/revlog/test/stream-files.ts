import { Buffer } from 'node:buffer';

/**
 * The files of the first `stream2` part of an uncompressed bundle, found with as little code as will do: these tests
 * are about revlogs and must not depend on the decoder that is tested elsewhere.
 */
export function streamFiles(bundle: Buffer): Map<string, Buffer> {
  const payload = firstPayload(bundle);
  const files = new Map<string, Buffer>();
  for (let at = 0; at < payload.length; ) {
    const nameSize = varint(payload, at + 1);
    const dataSize = varint(payload, nameSize.next);
    const end = dataSize.next + nameSize.value;
    files.set(payload.toString('latin1', dataSize.next, end), payload.subarray(end, end + dataSize.value));
    at = end + dataSize.value;
  }
  return files;
}

function firstPayload(bundle: Buffer): Buffer {
  let at = 8 + bundle.readInt32BE(4);
  at += 4 + bundle.readInt32BE(at);
  const chunks: Buffer[] = [];
  for (let size = bundle.readInt32BE(at); size > 0; size = bundle.readInt32BE(at)) {
    chunks.push(bundle.subarray(at + 4, at + 4 + size));
    at += 4 + size;
  }
  return Buffer.concat(chunks);
}

function varint(bytes: Buffer, from: number): { value: number; next: number } {
  let value = 0;
  for (let at = from, scale = 1; ; at++, scale *= 128) {
    const byte = bytes[at] ?? 0;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return { value, next: at + 1 };
  }
}
