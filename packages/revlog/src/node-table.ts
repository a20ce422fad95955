import { randomInt } from 'node:crypto';
import { HgError, hexNode, NODE_BYTES, type Node, type Rev } from '@quicksilver/hg-types';
import { ENTRY, ENTRY_BYTES } from './layout.ts';

const WORDS = NODE_BYTES / 4;
const MULTIPLIER = 0x85ebca6b;

/**
 * Node to revision: an open table of revision numbers beside the index, four bytes a slot. Nodes come from strangers
 * and need not be real digests, so the place of a node depends on a number that no stranger knows.
 */
export class NodeTable {
  readonly #view: DataView;
  readonly #slots: Int32Array; // revision + 1, 0 is free
  readonly #mask: number;
  readonly #seed = randomInt(2 ** 32);

  /** @throws HgError HG_CORRUPT where two revisions have one node. */
  constructor(entries: DataView, length: number, name: string) {
    this.#view = entries;
    const size = 2 ** Math.ceil(Math.log2(Math.max(2, length * 2)));
    this.#slots = new Int32Array(size);
    this.#mask = size - 1;
    for (let rev = 0; rev < length; rev++) {
      const node = rev * ENTRY_BYTES + ENTRY.node;
      const slot = this.#findSlot(entries, node);
      const taken = this.#slots[slot] ?? 0;
      if (taken !== 0) {
        throw new HgError('HG_CORRUPT', 'two revisions have the same node', {
          file: name,
          rev,
          other: taken - 1,
          node: hexNode(new Uint8Array(entries.buffer, entries.byteOffset + node, NODE_BYTES)),
        });
      }
      this.#slots[slot] = rev + 1;
    }
  }

  find(node: Node): Rev | undefined {
    if (node.length !== NODE_BYTES) return undefined;
    const slot = this.#findSlot(new DataView(node.buffer, node.byteOffset, NODE_BYTES), 0);
    const taken = this.#slots[slot] ?? 0;
    return taken === 0 ? undefined : taken - 1;
  }

  /** The slot that holds the node at `at` of `source`, or the free one where it belongs. */
  #findSlot(source: DataView, at: number): number {
    let mixed = this.#seed;
    for (let word = 0; word < WORDS; word++) {
      mixed = Math.imul(mixed ^ source.getInt32(at + word * 4), MULTIPLIER);
      mixed ^= mixed >>> 15;
    }
    let slot = mixed & this.#mask;
    for (let taken = this.#slots[slot] ?? 0; taken !== 0; taken = this.#slots[slot] ?? 0) {
      if (this.#equal(source, at, taken - 1)) break;
      slot = (slot + 1) & this.#mask;
    }
    return slot;
  }

  #equal(source: DataView, at: number, rev: Rev): boolean {
    const node = rev * ENTRY_BYTES + ENTRY.node;
    for (let byte = 0; byte < NODE_BYTES; byte += 4) {
      if (source.getInt32(at + byte) !== this.#view.getInt32(node + byte)) return false;
    }
    return true;
  }
}
