import { describe, expect, it } from '@jest/globals';
import { encodeVarint } from '@quicksilver/bytes';
import { type Random, seededRandom, tmpDir } from '@quicksilver/testing';
import { refusal } from './support/apply.ts';
import { save } from './support/bundles.ts';
import { GOOD_STREAMS, type SidecarFile } from './support/streamed.ts';

/*
 * Every good stream bundle, cut and fed to the engine. `QUICKSILVER_CUTS=all` cuts at each byte near every border and at
 * 100 places elsewhere (about two minutes); by default a sample of both. The decoders' own tests cut at every byte.
 */
const ALL = process.env.QUICKSILVER_CUTS === 'all';
const SAMPLE = 24;
const ELSEWHERE = ALL ? 100 : 12;

type File = Pick<SidecarFile, 'name' | 'size'>;

interface SidecarPart {
  readonly header_size: number;
  readonly chunk_sizes: readonly number[];
  readonly files?: readonly File[];
  readonly entries?: readonly (readonly File[])[];
}

interface Sidecar {
  readonly size: number;
  readonly container: { readonly params_raw?: string };
  readonly parts?: readonly [SidecarPart];
  readonly stream1?: { readonly requirements_raw_length: number; readonly files: readonly File[] };
}

/** Offsets in the file at which something ends, and where the first file begins. */
function borders(sidecar: Sidecar): { readonly first: number; readonly all: readonly number[] } {
  const { size, container, parts, stream1 } = sidecar;
  if (stream1) {
    const first = 24 + stream1.requirements_raw_length;
    return { first, all: [0, 4, 6, 14, 22, 24, first, ...ends(stream1.files.flatMap(packedFields), first)] };
  }
  const [part] = parts ?? [];
  if (part === undefined) throw new Error('the sidecar speaks of no stream');
  const header = 8 + (container.params_raw ?? '').length;
  const payload = header + 4 + part.header_size;
  const chunks = part.chunk_sizes.map((length, i) => {
    const before = part.chunk_sizes.slice(0, i).reduce((sum, one) => sum + one, 0);
    return { before, length, at: payload + 4 * (i + 1) + before };
  });
  const inFile = (offset: number): number => {
    const chunk = chunks.find(({ before, length }) => offset < before + length);
    return chunk === undefined ? size - 8 : chunk.at + offset - chunk.before;
  };
  const { entries } = part;
  const numbers = entries ? [count(entries.length), count(entries[0]?.length ?? 0)] : [];
  const fields = entries
    ? [count(entries.length), ...entries.flatMap((files) => [count(files.length), ...files.flatMap(recordFields)])]
    : (part.files ?? []).flatMap(recordFields);
  const frame = [0, 4, 8, header, header + 4, payload, ...chunks.map(({ at }) => at), size - 8, size - 4];
  return {
    first: inFile(numbers.reduce((sum, length) => sum + length, 0)),
    all: [...frame, ...ends(fields, 0).map(inFile)],
  };
}

function ends(fields: readonly number[], from: number): number[] {
  let offset = from;
  return fields.map((length) => (offset += length));
}

const count = (value: number): number => encodeVarint(value).length;

/** Lengths of what makes up a file: in versions 2 and 3, and in version 1. */
function recordFields(file: File): number[] {
  const name = nameBytes(file);
  return [1, count(name), count(file.size), name, file.size];
}

function packedFields(file: File): number[] {
  return [nameBytes(file), 1, String(file.size).length, 1, file.size];
}

function nameBytes({ name }: File): number {
  return typeof name === 'string' ? Buffer.byteLength(name) : name.hex.length / 2;
}

function placesToCut(sidecar: Sidecar, random: Random): number[] {
  const near = borders(sidecar).all.flatMap((at) => [at - 1, at, at + 1]);
  const chosen = ALL ? near : Array.from({ length: SAMPLE }, () => random.pick(near));
  const elsewhere = Array.from({ length: ELSEWHERE }, () => random.int(0, sidecar.size));
  return [...new Set([...chosen, ...elsewhere])].filter((at) => at >= 0 && at < sidecar.size);
}

describe.each(GOOD_STREAMS)('$name cut near borders and elsewhere', ({ bytes, sidecar }) => {
  it('is refused as cut, with the place, and leaves no repository', async () => {
    using dir = tmpDir();
    for (const cut of placesToCut(sidecar as Sidecar, seededRandom(31))) {
      const refused = await refusal(save(dir, bytes.subarray(0, cut)), { threads: 'never' });
      expect([cut, refused.code, refused.unreadable, refused.beside]).toEqual([cut, 'HG_TRUNCATED', true, ['root']]);
      expect(Object.keys(refused.where)).toContain('offset');
    }
  }, 300_000);
});

it('cuts where fields end: the first file begins with the letter of its place, or with its name', () => {
  for (const { name, bytes, sidecar } of GOOD_STREAMS.filter(({ bytes: { length } }) => length > 83)) {
    const { first, all } = borders(sidecar as Sidecar);
    expect([name, bytes.toString('latin1', first, first + 1)]).toEqual([name, name.endsWith('packed1') ? 'd' : 's']);
    expect(all).toContain(bytes.length - (name.endsWith('packed1') ? 0 : 8));
  }
});
