/** Little-endian number of up to eight bytes; inexact only where it is far over any limit. */
export function littleEndian(bytes: Uint8Array): number {
  return bytes.reduceRight((value, byte) => value * 256 + byte, 0);
}
