import { Buffer } from 'node:buffer';
import { latin1Text, type Where } from '@quicksilver/bytes';
import { HgError, type Node, nodeFromHex } from '@quicksilver/hg-types';

export interface Changeset {
  /** Null where there are no files at all. */
  readonly manifest: Node;
  readonly user: string;
  /** Seconds since 1970; may be negative, and has fractions in very old history. */
  readonly time: number;
  /** Seconds west of UTC. */
  readonly zone: number;
  /** One character per byte: some values are binary. */
  readonly extra: ReadonlyMap<string, string>;
  readonly branch: string;
  /** This changeset closes its branch head. */
  readonly closesBranch: boolean;
  /** Names as the store has them, one character per byte. */
  readonly files: readonly string[];
  readonly description: string;
}

const LF = 0x0a;

/**
 * Reads the text of a changelog revision: manifest node, user, date with extras, files, an empty line, description.
 * Layout: as `hg debugdata -c REV` shows it.
 */
export function parseChangeset(text: Uint8Array, where: Where = {}): Changeset {
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  const manifestEnd = lineEnd(bytes, 0, where);
  const userEnd = lineEnd(bytes, manifestEnd + 1, where);
  const dateEnd = lineEnd(bytes, userEnd + 1, where);
  const filesEnd = endOfFiles(bytes, dateEnd, where);
  const manifest = bytes.toString('latin1', 0, manifestEnd);
  if (!/^[0-9a-f]{40}$/.test(manifest)) throw malformed('the first line is no manifest node', where);
  const [time, zone, extras] = readDate(bytes.toString('latin1', userEnd + 1, dateEnd), where);
  const extra = readExtras(extras);
  const branch = extra.get('branch');
  return {
    manifest: nodeFromHex(manifest),
    user: bytes.toString('utf8', manifestEnd + 1, userEnd),
    time,
    zone,
    extra,
    branch: branch === undefined ? 'default' : Buffer.from(branch, 'latin1').toString('utf8'),
    closesBranch: extra.has('close'),
    files: filesEnd === dateEnd ? [] : latin1Text(bytes.subarray(dateEnd + 1, filesEnd)).split('\n'),
    description: bytes.toString('utf8', filesEnd + 2),
  };
}

function lineEnd(bytes: Buffer, from: number, where: Where): number {
  const end = bytes.indexOf(LF, from);
  if (end === -1) throw malformed('the text ends before its description', where);
  return end;
}

/** The line feed before the empty line. */
function endOfFiles(bytes: Buffer, dateEnd: number, where: Where): number {
  const end = bytes.indexOf('\n\n', dateEnd, 'latin1');
  if (end === -1) throw malformed('the text ends before its description', where);
  return end;
}

/** `<seconds> <zone>[ <extras>]` */
function readDate(line: string, where: Where): [time: number, zone: number, extras: string] {
  const match = /^(-?[0-9]+(?:\.[0-9]*)?(?:e[+-]?[0-9]+)?)(?: (-?[0-9]+))?(?: (.*))?$/s.exec(line);
  const time = Number(match?.[1]);
  if (!match || !Number.isFinite(time)) throw malformed('the third line is no date', where);
  return [time, Number(match[2] ?? 0), match[3] ?? ''];
}

const ESCAPES: Readonly<Record<string, string>> = { '\\\\': '\\', '\\n': '\n', '\\r': '\r', '\\0': '\0' };

/** `key:value` items between NULs; a backslash escapes what would break the line. */
function readExtras(text: string): Map<string, string> {
  const extra = new Map<string, string>();
  for (const item of text.split('\0')) {
    if (item === '') continue;
    const plain = item.replace(/\\[\\nr0]/g, (escaped) => ESCAPES[escaped] ?? escaped);
    const colon = plain.indexOf(':');
    if (colon === -1) extra.set(plain, '');
    else extra.set(plain.slice(0, colon), plain.slice(colon + 1));
  }
  return extra;
}

function malformed(message: string, where: Where): HgError {
  return new HgError('HG_CORRUPT', message, { what: 'changeset', ...where });
}
