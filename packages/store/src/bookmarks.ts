import { latin1Bytes } from '@quicksilver/bytes';
import { HgError, hexNode, type Node, nodeFromHex } from '@quicksilver/hg-types';
import { displayName } from './display-name.ts';
import { textLines } from './lines.ts';

const BREAKS_LINE = ['\0', '\n', '\r'];

export interface Bookmark {
  /** One character per byte (the bytes are UTF-8 by custom); see `displayName`. */
  readonly name: string;
  readonly node: Node;
}

/**
 * What a line of the file can hold. Anything else in a name is content: it never becomes a path or a key. (Mercurial
 * makes no new bookmark with a colon in its name, but it reads and lists those that exist.)
 */
export function isBookmarkName(name: string): boolean {
  return /[^ \t]/.test(name) && !BREAKS_LINE.some((char) => name.includes(char));
}

/** `.hg/bookmarks` (or `.hg/store/bookmarks` with `bookmarksinstore`): lines of node and name, ends trimmed. */
export function parseBookmarks(content: Uint8Array | string): Bookmark[] {
  return textLines(content).map((line, at) => {
    const name = line.slice(41).replace(/[ \t\r]+$/, '');
    if (!/^[0-9a-f]{40} /.test(line) || !isBookmarkName(name)) {
      throw new HgError('HG_CORRUPT', 'a line is not a node and the name of a bookmark', {
        file: 'bookmarks',
        line: at + 1,
        got: displayName(line),
      });
    }
    return { node: nodeFromHex(line.slice(0, 40)), name };
  });
}

/** Sorted by name, as Mercurial writes it; of two entries with one name the later one counts. */
export function encodeBookmarks(bookmarks: Iterable<Bookmark>): Uint8Array {
  const byName = new Map<string, string>();
  for (const { name, node } of bookmarks) {
    if (!isBookmarkName(name)) {
      throw new HgError('HG_CORRUPT', 'the name of a bookmark cannot be written', { bookmark: displayName(name) });
    }
    byName.set(name, hexNode(node));
  }
  const lines = [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, hex]) => `${hex} ${name}\n`);
  return latin1Bytes(lines.join(''));
}
