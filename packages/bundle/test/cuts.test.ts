import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Random, seededRandom } from '@quicksilver/testing';
import { outcomeOf } from './support/reading.ts';
import { goldens } from './support/sidecar.ts';
import { silentFault } from './support/silent.ts';

/** Up to here every cut is tried; beyond, those near the borders of fields and as many random ones. */
const SMALL = 12_000;
const RANDOM_CUTS = 100;
const NEAR = 3;

const PLAIN = [
  ...goldens('stream', /\.(stream-v[23]|packed1)\.hg$/),
  ...goldens('hg6', /\.(stream-v2|none-v2|packed1)\.hg$/),
  ...goldens('bundle', /\.none-v[23]/),
].filter(({ sidecar }) => sidecar.container.magic !== 'HG10UN');

/** Offsets at which callbacks come: where parts, files and their data begin and end. */
function borders(bytes: Uint8Array): number[] {
  const events = (length: number): number => outcomeOf(bytes.subarray(0, length)).events.length;
  const found = new Set([0, 4, 8, bytes.length]);
  const step = Math.max(1, Math.floor(bytes.length / 60));
  let seen = 0;
  // A coarse scan, refined to the byte where the number of callbacks grows.
  for (let at = 0; at < bytes.length; at += step) {
    let [low, high] = [at, Math.min(bytes.length, at + step)];
    const count = events(high);
    if (count === seen) continue;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (events(middle) > seen) high = middle;
      else low = middle;
    }
    found.add(high);
    seen = count;
  }
  return [...found];
}

function cutsOf(bytes: Uint8Array, random: Random): number[] {
  if (bytes.length <= SMALL) return Array.from({ length: bytes.length }, (_, i) => i);
  const cuts = new Set(Array.from({ length: RANDOM_CUTS }, () => random.int(0, bytes.length)));
  for (const border of borders(bytes)) {
    for (let cut = border - NEAR; cut <= border + NEAR; cut++) if (cut >= 0 && cut < bytes.length) cuts.add(cut);
  }
  return [...cuts];
}

// A quarter of a million errors are thrown here; nobody reads their stacks.
const { stackTraceLimit } = Error;
beforeAll(() => {
  Error.stackTraceLimit = 0;
});
afterAll(() => {
  Error.stackTraceLimit = stackTraceLimit;
});

describe.each(PLAIN)('$path, cut short', ({ bytes }) => {
  const random = seededRandom(bytes.length);

  it('is incomplete at every place, and says where', () => {
    for (const cut of cutsOf(bytes, random)) {
      const { code, where } = silentFault(bytes.subarray(0, cut));
      if (code !== 'HG_TRUNCATED') expect([cut, code]).toEqual([cut, 'HG_TRUNCATED']);
      // What was to come next, or what was announced of files.
      if (!/"(wanted|announcedFiles)":/.test(JSON.stringify(where))) expect(where).toHaveProperty('wanted');
    }
  });

  it('comes to the same however it is fed', () => {
    const sample = bytes.length <= SMALL ? 8 : 3;
    for (const cut of [bytes.length, ...Array.from({ length: sample }, () => random.int(0, bytes.length))]) {
      const cutBytes = bytes.subarray(0, cut);
      const whole = outcomeOf(cutBytes);
      expect(outcomeOf(cutBytes, () => random.int(1, 300))).toEqual(whole);
      expect(outcomeOf(cutBytes, () => 1)).toEqual(whole);
    }
  });
});
