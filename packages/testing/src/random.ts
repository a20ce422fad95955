export interface Random {
  readonly seed: number;
  /** 0 <= x < 1 */
  next(): number;
  /** low <= n < high */
  int(low: number, high: number): number;
  pick<T>(items: readonly T[]): T;
  bytes(length: number): Buffer;
}

/** A small seeded generator (mulberry32): the same seed gives the same test on every machine. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const word = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const next = (): number => word() / 2 ** 32;
  const int = (low: number, high: number): number => low + Math.floor(next() * (high - low));
  return {
    seed,
    next,
    int,
    pick: (items) => {
      const item = items[int(0, items.length)];
      if (item === undefined) throw new Error('nothing to pick from');
      return item;
    },
    bytes: (length) => {
      const out = Buffer.allocUnsafe(length);
      let at = 0;
      for (; at + 4 <= length; at += 4) out.writeUInt32LE(word(), at);
      for (; at < length; at++) out[at] = word() & 0xff;
      return out;
    },
  };
}
