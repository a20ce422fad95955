/**
 * Numbers of the container and of its payloads. Layouts: `hg help internals.bundles`, `hg help internals.bundle2`
 * (sections "Binary format", "Payload", "Interrupts"), and the behaviour of stock hg where the texts are silent.
 */

/** Every length field of a bundle2 container: big-endian, signed. */
export const SIZE_BYTES = 4;

/** A payload's chunk size that announces one whole part in between ("interrupt"). */
export const INTERRUPT = -1;

/** `HG20` and the length of the stream parameters. */
export const HG20_FIXED_BYTES = 8;

/** `HG10` and two letters of compression. */
export const HG10_FIXED_BYTES = 6;

/** Where an HG10 body begins when its compression is bzip2: "BZ" is both the header's end and the stream's start. */
export const HG10_BZIP2_BODY = 4;

/** `HGS1UN`. */
export const HGS1_FIXED_BYTES = 6;

/** Where the fields after it begin; the list's length has 16 bits. */
export const HGS1_COUNTS = { files: 6, bytes: 14, size: 22, list: 24 } as const;

/** Two bytes count: length of the list of requirements in an `HGS1` header, of a bookmark's name. */
export const MAX_U16 = 0xffff;

/** Stream parameters are a line of options; stock hg writes some twenty bytes. */
export const MAX_STREAM_PARAMS = 64 * 1024;

/** `readBundleHeader` never needs more than this. */
export const MAX_HEADER = Math.max(MAX_STREAM_PARAMS + HG20_FIXED_BYTES, HGS1_COUNTS.list + MAX_U16);

/** One byte counts: type length, parameter counts, key and value lengths. */
export const MAX_U8 = 0xff;

/** Type length, part id, two parameter counts. */
export const PART_FIXED_BYTES = 1 + 4 + 1 + 1;

/** What a part header can fill at most: a larger one must hold bytes that no field accounts for. */
export const MAX_PART_HEADER = PART_FIXED_BYTES + MAX_U8 + 2 * MAX_U8 * (2 + 2 * MAX_U8);

/** What stock hg writes per chunk of a streamed payload. */
export const DEFAULT_CHUNK = 32 * 1024;

/** Largest chunk size that the length field can carry. */
export const MAX_CHUNK = 0x7fffffff;

/** Longest name of a streamed file; stock hg's own paths end at the file system's limit, which is the same. */
export const MAX_STREAM_NAME = 4096;

/** Digits of the largest number that is handled. */
export const MAX_DECIMAL = String(Number.MAX_SAFE_INTEGER).length;

/** `phase-heads`: signed phase, node. */
export const PHASE_HEAD_BYTES = 4 + 20;

/** Most text of one `output` part that is passed on; the rest is dropped. */
export const MAX_OUTPUT_TEXT = 64 * 1024;
