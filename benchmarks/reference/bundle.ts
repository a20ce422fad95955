import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { fileURLToPath } from 'node:url';
import { REQUIREMENTS, type ReferenceSettings, referenceStore } from './repository.ts';
import type { StoreFile } from './revlog-writer.ts';

export interface ReferenceBundle {
  readonly path: string;
  readonly size: number;
  readonly files: number;
  readonly bytes: number;
}

/** Bump when the generator changes: bundles are kept between runs. */
const VERSION = 1;
const CACHE = fileURLToPath(new URL('../../.cache/benchmarks/', import.meta.url));
/** Stock hg frames a streamed payload so. */
const CHUNK = 32 * 1024;
const OUT = 4 * 1024 * 1024;

/** A v2 stream bundle of the reference repository, as stock hg would write it; made once per setting. */
export function referenceBundle(settings: ReferenceSettings): ReferenceBundle {
  const { files, medianText, seed } = settings;
  const path = `${CACHE}reference-v${VERSION}-${files}-${medianText}-${seed}.stream-v2.hg`;
  const facts = `${path}.json`;
  if (!existsSync(facts)) {
    mkdirSync(CACHE, { recursive: true });
    writeFileSync(facts, JSON.stringify(write(path, settings)));
  }
  const { files: count, bytes } = JSON.parse(readFileSync(facts, 'utf8')) as { files: number; bytes: number };
  return { path, size: statSync(path).size, files: count, bytes };
}

/** The header names totals that are known at the end only: the payload is written first, beside it. */
function write(path: string, settings: ReferenceSettings): { files: number; bytes: number } {
  const draft = `${path}.${process.pid}`;
  const body = `${draft}.body`;
  const totals = { files: 0, bytes: 0 };
  const payload = new Output(body);
  const chunks = new Chunks(payload);
  for (const file of referenceStore(settings)) {
    totals.files++;
    totals.bytes += file.bytes.length;
    chunks.add(entryHead(file));
    chunks.add(file.bytes);
  }
  chunks.end();
  payload.close();
  const out = new Output(draft);
  out.write(header(totals));
  out.write(readFileSync(body));
  out.write(Buffer.alloc(8)); // end of payload, end of bundle
  out.close();
  rmSync(body);
  renameSync(draft, path);
  return totals;
}

/** Layout: hg help internals.bundle2. */
function header(totals: { files: number; bytes: number }): Buffer {
  const params = [
    ['bytecount', String(totals.bytes)],
    ['filecount', String(totals.files)],
    ['requirements', encodeURIComponent(REQUIREMENTS.join(','))],
  ];
  const part = Buffer.concat([
    Buffer.from([7]),
    Buffer.from('STREAM2'),
    Buffer.alloc(4),
    Buffer.from([params.length, 0]),
    Buffer.from(params.flatMap((pair) => pair.map((word) => word.length))),
    Buffer.from(params.flat().join('')),
  ]);
  return Buffer.concat([Buffer.from('HG20'), Buffer.alloc(4), u32(part.length), part]);
}

function entryHead({ name, bytes }: StoreFile): Buffer {
  const raw = Buffer.from(name, 'latin1');
  return Buffer.concat([Buffer.from('s'), Buffer.from([...varint(raw.length), ...varint(bytes.length)]), raw]);
}

class Chunks {
  readonly #out: Output;
  #held: Buffer[] = [];
  #size = 0;

  constructor(out: Output) {
    this.#out = out;
  }

  add(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) {
      const part = bytes.subarray(at, at + CHUNK - this.#size);
      this.#held.push(part);
      this.#size += part.length;
      at += part.length;
      if (this.#size === CHUNK) this.end();
    }
  }

  end(): void {
    if (this.#size === 0) return;
    this.#out.write(Buffer.concat([u32(this.#size), ...this.#held]));
    this.#held = [];
    this.#size = 0;
  }
}

class Output {
  readonly #fd: number;
  #held: Buffer[] = [];
  #size = 0;

  constructor(path: string) {
    this.#fd = openSync(path, 'w');
  }

  write(bytes: Buffer): void {
    this.#held.push(bytes);
    this.#size += bytes.length;
    if (this.#size >= OUT) this.#flush();
  }

  close(): void {
    this.#flush();
    closeSync(this.#fd);
  }

  #flush(): void {
    const bytes = Buffer.concat(this.#held);
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#fd, bytes, at, Math.min(bytes.length - at, 2 ** 30));
    this.#held = [];
    this.#size = 0;
  }
}

function u32(value: number): Buffer {
  const out = Buffer.alloc(4);
  out.writeUInt32BE(value);
  return out;
}

function varint(value: number): number[] {
  const out: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) out.push((rest % 128) | 0x80);
  out.push(rest);
  return out;
}
