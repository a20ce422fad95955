import type { Where } from '@quicksilver/bytes';
import { HgError, hexNode, type Node, NULL_REV, nullNode, type Rev } from '@quicksilver/hg-types';
import { decodeChunk } from './chunk.ts';
import { UNHASHED_FLAGS } from './layout.ts';
import { applyPatch } from './patch.ts';
import { bytesAccess, type RandomAccess } from './random-access.ts';
import { isRevisionHash, revisionHash } from './revision-hash.ts';
import { RevlogIndex } from './revlog-index.ts';

/** A revlog as it lies: the whole `.i`, and the `.d` where there is one. */
export interface RevlogSource {
  readonly index: Uint8Array;
  readonly data: RandomAccess | undefined;
  /** What faults call it, such as `00changelog`. */
  readonly name: string;
}

/** The longest text that is read unless the caller says otherwise. */
export const DEFAULT_MAX_TEXT = 256 * 1024 * 1024;

/**
 * The most bytes that are put together for one text: a chain rewrites the text once per delta, and a stranger can
 * make chains of any length over a text that compresses to nothing.
 */
const MAX_WORK = 64 * 1024 * 1024 * 1024;

const NOTHING = new Uint8Array(0);

/**
 * Texts of a revlog. The last one is kept, so that going through a revlog in order applies each delta once.
 * A text is valid for as long as the caller likes, but must not be written to.
 */
export class RevlogReader {
  readonly index: RevlogIndex;
  readonly #data: RandomAccess | undefined;
  readonly #maxText: number;
  #lastRev: Rev = NULL_REV;
  #lastText: Uint8Array = NOTHING;

  constructor(index: RevlogIndex, data: RandomAccess | undefined, maxText = DEFAULT_MAX_TEXT) {
    this.index = index;
    this.#data = index.inline ? bytesAccess(index.file, index.name) : data;
    this.#maxText = maxText;
  }

  static open(source: RevlogSource, maxText = DEFAULT_MAX_TEXT): RevlogReader {
    return new RevlogReader(RevlogIndex.parse(source.index, source.name), source.data, maxText);
  }

  /** The full text, file metadata included. Its length is checked, its hash is not: see `checkHash`. */
  text(rev: Rev): Uint8Array {
    if (rev === NULL_REV) return NOTHING;
    const chain = this.#deltaChain(rev);
    let text = this.#lastText;
    // From the oldest; the text at hand is the base of the first one unless that is a full text.
    let work = 0;
    for (let at = chain.length - 1; at >= 0; at--) {
      const before = text;
      text = this.#extend(before, chain[at] ?? rev);
      if (text !== before) work += text.length;
      if (work > MAX_WORK) {
        throw new HgError('HG_LIMIT', 'a text takes too many deltas', { ...this.#where(rev), deltas: chain.length });
      }
    }
    this.#lastRev = rev;
    this.#lastText = text;
    return text;
  }

  /** Node of a parent: the null node for -1. */
  parentNode(rev: Rev): Node {
    return rev === NULL_REV ? nullNode : this.index.nodeAt(rev);
  }

  /**
   * Whether the text of `rev` gives its node. `unhashed` revisions (censored, narrow, external) are stored as
   * something else than what was hashed, and say so by a flag.
   *
   * @throws HgError HG_CORRUPT where it does not.
   */
  checkHash(rev: Rev): 'same' | 'unhashed' {
    const { p1, p2, node, flags } = this.index.entry(rev);
    const text = this.text(rev);
    if ((flags & UNHASHED_FLAGS) !== 0) return 'unhashed';
    const parents = { p1: this.parentNode(p1), p2: this.parentNode(p2) };
    if (isRevisionHash(node, text, parents)) return 'same';
    throw new HgError('HG_CORRUPT', 'the text of a revision does not give its node', {
      ...this.#where(rev),
      node: hexNode(node),
      found: hexNode(revisionHash(parents.p1, parents.p2, text)),
    });
  }

  /** The revisions whose chunks make up the text of `rev`, from `rev` down to a full text or the text at hand. */
  #deltaChain(rev: Rev): Rev[] {
    const { index } = this;
    const chain: Rev[] = [];
    index.nodeAt(rev); // refuses revisions that are not there
    for (let at = rev; at !== this.#lastRev; ) {
      chain.push(at);
      const base = index.base(at);
      if (base > at || base < NULL_REV) {
        throw new HgError('HG_CORRUPT', 'the base of a delta is no earlier revision', { ...this.#where(at), base });
      }
      if (base === at || base === NULL_REV) break;
      at = index.generaldelta ? base : at - 1;
    }
    return chain;
  }

  /** The text of `rev`: its chunk alone, or applied to the text of its base. */
  #extend(baseText: Uint8Array, rev: Rev): Uint8Array {
    const { index } = this;
    const where = this.#where(rev);
    const length = index.textLength(rev);
    if (length > this.#maxText) {
      throw new HgError('HG_LIMIT', 'a text is longer than the limit', {
        ...where,
        size: length,
        limit: this.#maxText,
      });
    }
    const base = index.base(rev);
    const isFull = base === rev || base === NULL_REV;
    const lengthFrom = isFull && length >= 0 ? 'entry' : 'limit';
    const maxOutput = lengthFrom === 'entry' ? length : this.#maxText;
    const content = decodeChunk(this.#chunk(rev), { maxOutput, lengthFrom, where });
    const text = isFull ? content : applyPatch(baseText, content, { maxBytes: this.#maxText, where });
    if (length >= 0 && text.length !== length) {
      throw new HgError('HG_CORRUPT', 'a text has another length than its entry says', {
        ...where,
        length: text.length,
        expected: length,
      });
    }
    return text;
  }

  #chunk(rev: Rev): Uint8Array {
    const { index } = this;
    const length = index.storedLength(rev);
    if (length === 0) return NOTHING;
    const where = this.#where(rev);
    if (length < 0) throw new HgError('HG_CORRUPT', 'a stored length is negative', { ...where, got: length });
    if (length > this.#maxText + 1) {
      throw new HgError('HG_LIMIT', 'a chunk is longer than the limit', {
        ...where,
        size: length,
        limit: this.#maxText,
      });
    }
    if (this.#data === undefined) throw new HgError('HG_CORRUPT', 'the revlog has no data file', where);
    return this.#data.read(index.chunkStart(rev), length);
  }

  #where(rev: Rev): Where {
    return { file: this.index.name, rev };
  }
}

/** One text, once. For several, keep a RevlogReader. */
export function revisionText(source: RevlogSource, rev: Rev, maxBytes: number): Uint8Array {
  return RevlogReader.open(source, maxBytes).text(rev);
}
