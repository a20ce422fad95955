/** Layout: `hg help internals.revlogs`, version 1. All integers are big-endian. */

export const ENTRY_BYTES = 64;

/** Byte offsets inside an entry. The first four bytes of entry 0 are the header of the file. */
export const ENTRY = {
  offset: 0, // u48, of the chunk among the data
  flags: 6, // u16
  storedLength: 8, // i32
  textLength: 12, // i32, -1 where it was not recorded
  base: 16, // i32
  linkRev: 20, // i32
  p1: 24, // i32
  p2: 28, // i32
  node: 32, // 20 bytes, then 12 unused
} as const;

export const HEADER_BYTES = 4;
export const VERSION_1 = 1;

/** Upper half of the header. The last two say more about deltas and change nothing for a reader. */
export const HEADER_FLAG = { inline: 0x1, generaldelta: 0x2, filelogMeta: 0x4, deltaInfo: 0x8 } as const;
export const KNOWN_HEADER_FLAGS = 0xf;

/** Flags of a revision. */
export const REVISION_FLAG = { censored: 0x8000, ellipsis: 0x4000, external: 0x2000, hasCopies: 0x1000 } as const;
/** Revisions whose stored text is not what their node was made from. */
export const UNHASHED_FLAGS = REVISION_FLAG.censored | REVISION_FLAG.ellipsis | REVISION_FLAG.external;
export const KNOWN_REVISION_FLAGS = UNHASHED_FLAGS | REVISION_FLAG.hasCopies;
/** Only where the header has `filelogMeta` or `deltaInfo`: notes on the delta's quality. */
export const DELTA_INFO_FLAGS = 0x0fc0;

/** First byte of a chunk. */
export const CHUNK_MARK = { plain: 0x00, zstd: 0x28, raw: 0x75, zlib: 0x78 } as const;

/** One hunk of a delta: start, end, length of the new bytes. */
export const HUNK_HEADER_BYTES = 12;
