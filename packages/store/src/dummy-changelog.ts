import { Buffer } from 'node:buffer';

/** A version that no Mercurial reads, so that one from before the store refuses instead of seeing nothing. */
const UNREADABLE_VERSION = Buffer.from([0x00, 0x00, 0xff, 0xff]);

/** `.hg/00changelog.i` of a repository that has a store; only its first four bytes mean anything. */
export const DUMMY_CHANGELOG: Uint8Array = new Uint8Array(
  Buffer.concat([UNREADABLE_VERSION, Buffer.from(' placeholder: the changelog lies below store/')]),
);
