import { ByteCursor, latin1Bytes } from '@quicksilver/bytes';
import { HgError, NODE_BYTES, type Node, printable } from '@quicksilver/hg-types';

export interface BookmarkEntry {
  /** Bytes, one character each; as stored in the repository. */
  readonly name: string;
  /** Undefined: the bookmark is deleted. */
  readonly node: Node | undefined;
}

const DELETED = 0xff;
const MAX_NAME = 0xffff;

/** Payload of a `bookmarks` part: (node, 16-bit length, name) until its end; a node of ones deletes. Nodes are copies. */
export function readBookmarks(payload: Uint8Array): BookmarkEntry[] {
  const cursor = new ByteCursor(payload, 'bookmarks');
  const bookmarks: BookmarkEntry[] = [];
  while (cursor.remaining > 0) {
    const { offset } = cursor;
    const node = new Uint8Array(cursor.raw(NODE_BYTES)); // a copy: the slice of a Buffer would be a view
    const name = cursor.latin1(cursor.u16());
    checkName(name, offset);
    bookmarks.push({ name, node: node.every((byte) => byte === DELETED) ? undefined : node });
  }
  return bookmarks;
}

export function writeBookmarks(bookmarks: readonly BookmarkEntry[]): Uint8Array {
  const records = bookmarks.map(({ name, node }) => {
    const bytes = latin1Bytes(name);
    if (bytes.length > MAX_NAME)
      throw new HgError('HG_LIMIT', 'the name of a bookmark is too long', { limit: MAX_NAME });
    const record = new Uint8Array(NODE_BYTES + 2 + bytes.length);
    if (node) record.set(node);
    else record.fill(DELETED, 0, NODE_BYTES);
    new DataView(record.buffer).setUint16(NODE_BYTES, bytes.length);
    record.set(bytes, NODE_BYTES + 2);
    return record;
  });
  return new Uint8Array(Buffer.concat(records));
}

/** The file of bookmarks is a list of lines: a name that breaks a line could add others. hg allows none of these. */
function checkName(name: string, offset: number): void {
  if (name !== '' && !/[\0\r\n]/.test(name)) return;
  throw new HgError('HG_CORRUPT', 'a bookmark has a name that hg does not allow', {
    part: 'bookmarks',
    offset,
    name: printable(name),
  });
}
