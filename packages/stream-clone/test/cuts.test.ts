import { describe, expect, it } from '@jest/globals';
import { encodeVarint } from '@quicksilver/bytes';
import { fixtures, type Random, seededRandom, tmpDir } from '@quicksilver/testing';
import { refusal } from './support/apply.ts';
import { save } from './support/bundles.ts';

/*
 * Every good stream bundle, cut and fed to the engine. `QUICKSILVER_CUTS=all` cuts at each byte near every border and at
 * 100 places elsewhere (about two minutes); by default a sample of both. The decoders' own tests cut at every byte.
 */
const ALL = process.env.QUICKSILVER_CUTS === 'all';
const SAMPLE = 24;
const ELSEWHERE = ALL ? 100 : 12;

interface SidecarPart {
  readonly header_size: number;
  readonly chunk_sizes: readonly number[];
  readonly files: readonly { readonly name: string | { readonly hex: string }; readonly size: number }[];
}

interface Sidecar {
  readonly size: number;
  readonly container: { readonly params_raw: string };
  readonly parts: readonly [SidecarPart];
}

/** Offsets in the file at which something ends: container fields, payload chunks, fields of every entry. */
function borders({ size, container, parts: [part] }: Sidecar): number[] {
  const header = 8 + container.params_raw.length;
  const payload = header + 4 + part.header_size;
  const chunks = part.chunk_sizes.map((length, i) => {
    const before = part.chunk_sizes.slice(0, i).reduce((sum, one) => sum + one, 0);
    return { before, length, at: payload + 4 * (i + 1) + before };
  });
  const inFile = (offset: number): number => {
    const chunk = chunks.find(({ before, length }) => offset < before + length);
    return chunk === undefined ? size - 8 : chunk.at + offset - chunk.before;
  };
  const fields = part.files.flatMap(({ name, size: length }) => {
    const nameBytes = typeof name === 'string' ? Buffer.byteLength(name) : name.hex.length / 2;
    return [1, encodeVarint(nameBytes).length, encodeVarint(length).length, nameBytes, length];
  });
  let offset = 0;
  const entries: number[] = [];
  for (const field of fields) {
    offset += field;
    entries.push(inFile(offset));
  }
  return [0, 4, 8, header, header + 4, payload, ...chunks.map(({ at }) => at), ...entries, size - 8, size - 4];
}

function placesToCut(sidecar: Sidecar, random: Random): number[] {
  const near = borders(sidecar).flatMap((at) => [at - 1, at, at + 1]);
  const chosen = ALL ? near : Array.from({ length: SAMPLE }, () => random.pick(near));
  const elsewhere = Array.from({ length: ELSEWHERE }, () => random.int(0, sidecar.size));
  return [...new Set([...chosen, ...elsewhere])].filter((at) => at >= 0 && at < sidecar.size);
}

const GOOD = [...fixtures('stream', /^(?!fmt-clv2).*\.stream-v2\.hg$/), ...fixtures('hg6', /\.stream-v2\.hg$/)];

describe.each(GOOD)('$name cut near borders and elsewhere', ({ bytes, sidecar }) => {
  it('is refused as cut, with the place, and leaves no repository', async () => {
    using dir = tmpDir();
    for (const cut of placesToCut(sidecar as Sidecar, seededRandom(31))) {
      const refused = await refusal(save(dir, bytes.subarray(0, cut)), { threads: 'never' });
      expect([cut, refused.code, refused.unreadable, refused.beside]).toEqual([cut, 'HG_TRUNCATED', true, ['root']]);
      expect(Object.keys(refused.where)).toContain('offset');
    }
  }, 300_000);
});

it('cuts where fields end: the first entry begins with the letter of its place', () => {
  for (const { bytes, sidecar } of GOOD) {
    const [, , , , , , first = 0] = borders(sidecar as Sidecar);
    expect(bytes.toString('latin1', first, first + 1)).toMatch(/[sc]/);
  }
});
