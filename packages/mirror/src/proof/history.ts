import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { HgError, hexNode, isNullNode, NODE_BYTES, type Node } from '@quicksilver/hg-types';
import { parseChangeset, RevlogFiles, type RevlogIndex, requirementsOfHeader, walkRevlog } from '@quicksilver/revlog';

/** What the changelog and the manifest of a repository were found to hold. */
export interface HistoryFacts {
  readonly changesets: number;
  readonly manifests: number;
  /** Hex nodes in revision order. */
  readonly heads: readonly string[];
  /** SHA-256 of the index files: two stores with equal ones hold the same history. */
  readonly digests: Readonly<Record<string, string>>;
  /** What the headers of both revlogs ask of the repository. */
  readonly requirements: ReadonlySet<string>;
}

export interface HistoryOptions {
  readonly signal: AbortSignal;
  readonly onChangeset?: ((done: number, total: number) => void) | undefined;
}

const TURN = 4096;

/**
 * Walks both indexes, checks the hash of every changeset and that its manifest is there, and reads every head whole.
 *
 * @throws HgError naming revlog, revision and offset of the first thing that is wrong.
 */
export async function proveHistory(
  changelog: RevlogFiles,
  manifest: RevlogFiles,
  options: HistoryOptions,
): Promise<HistoryFacts> {
  walkRevlog(changelog.index, { data: changelog.data, links: 'own' });
  walkRevlog(manifest.index, { data: manifest.data, links: changelog.index.length });
  await proveChangesets(changelog, manifest.index, options);
  const heads = changelog.index.heads();
  const reader = changelog.reader();
  for (const rev of heads) parseChangeset(reader.text(rev), { file: changelog.index.name, rev });
  return {
    changesets: changelog.index.length,
    manifests: manifest.index.length,
    heads: heads.map((rev) => hexNode(changelog.index.nodeAt(rev))),
    digests: { '00changelog.i': sha256(changelog.index.file), '00manifest.i': sha256(manifest.index.file) },
    requirements: new Set([changelog, manifest].flatMap(({ index }) => requirementsOfHeader(index.header))),
  };
}

async function proveChangesets(changelog: RevlogFiles, manifests: RevlogIndex, options: HistoryOptions): Promise<void> {
  const reader = changelog.reader();
  const { name, length } = changelog.index;
  for (let rev = 0; rev < length; rev++) {
    if (reader.checkHash(rev) === 'unhashed') {
      // Only narrow clones store such changesets; whoever else sets the flag wants to get past the hash.
      throw new HgError('HG_UNSUPPORTED', 'a changeset is stored as something else than was hashed', {
        file: name,
        rev,
      });
    }
    const manifest = manifestOf(reader.text(rev), { file: name, rev });
    if (!isNullNode(manifest) && manifests.findNode(manifest) === undefined) {
      throw new HgError('HG_UNPROVED', 'a changeset names a manifest that is not there', {
        file: name,
        rev,
        manifest: hexNode(manifest),
      });
    }
    if (rev % TURN === 0) {
      options.onChangeset?.(rev, length);
      await setImmediate(undefined, { signal: options.signal });
    }
  }
}

const HEX_NODE = 2 * NODE_BYTES;
const NEWLINE = 0x0a;

/** The first line of a changeset, without reading the rest: there may be a million of them. */
function manifestOf(text: Uint8Array, where: { file: string; rev: number }): Node {
  const node = new Uint8Array(NODE_BYTES);
  let wrong = text[HEX_NODE] === NEWLINE ? 0 : -1;
  for (let at = 0; at < NODE_BYTES; at++) {
    const digits = (hexDigit(text[2 * at]) << 4) | hexDigit(text[2 * at + 1]);
    wrong |= digits & ~0xff;
    node[at] = digits;
  }
  if (wrong !== 0) throw new HgError('HG_CORRUPT', 'the first line of a changeset is no manifest node', where);
  return node;
}

/** Of a lower-case digit; negative for anything else. */
function hexDigit(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  return byte >= 0x61 && byte <= 0x66 ? byte - 0x57 : -1;
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
