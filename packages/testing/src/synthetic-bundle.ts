import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { filelog, linearLog, type Revision, type RevlogFiles } from './synthetic-revlog.ts';

export interface SyntheticSettings {
  /** Tracked files. */
  readonly files: number;
  /** Bytes of each file's text. */
  readonly fileSize: number;
  /** Changesets that add the files, in equal shares (default 3). */
  readonly changesets?: number;
  /** Goes into the descriptions: another label, another history (default 'synthetic'). */
  readonly label?: string;
  /** First folder of every file (default: none), so that faults can be aimed at this bundle. */
  readonly folder?: string;
}

export interface SyntheticBundle {
  readonly path: string;
  readonly size: number;
  /** Of the stream part. */
  readonly storeFiles: number;
  readonly storeBytes: number;
  readonly tip: string;
}

interface StreamedFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const PART_CHUNK = 1 << 20;
const REQUIREMENTS = 'generaldelta%2Crevlogv1';

/**
 * Writes a v2 stream bundle of a made-up repository that `hg verify` finds clean, in seconds even at hundreds of
 * megabytes. Layouts: hg help internals.bundle2, internals.revlogs, internals.changegroups; made without our own
 * encoders, so that it is a judge of them as well.
 */
export function writeSyntheticBundle(path: string, settings: SyntheticSettings): SyntheticBundle {
  const { files, fileSize, changesets = 3, label = 'synthetic', folder } = settings;
  const nodes = new Map<string, string>();
  const manifests: Revision[] = [];
  const changelog: Revision[] = [];
  const names = Array.from({ length: files }, (_, i) =>
    folder === undefined ? fileName(i) : `${folder}/${fileName(i)}`,
  );
  const nodeOf = (i: number): string => filelog(fileText(i, fileSize), 0).node;
  for (let c = 0; c < changesets; c++) {
    const added = names.filter((_, i) => i % changesets === c);
    for (let i = c; i < files; i += changesets) nodes.set(names[i] ?? '', nodeOf(i));
    const manifest = [...nodes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, node]) => `${name}\0${node}\n`);
    manifests.push({ text: Buffer.from(manifest.join('')), link: c });
    const manifestNode = linearLog(manifests, 'inline').nodes[c];
    const list = added.sort().map((name) => `\n${name}`);
    const text = `${manifestNode}\ntest\n${c} 0${list.join('')}\n\n${label} ${c}`;
    changelog.push({ text: Buffer.from(text), link: c });
  }
  const roots = [
    ...storeFiles('00manifest', linearLog(manifests, 'inline').files),
    ...storeFiles('00changelog', linearLog(changelog, 'changelog').files),
  ];
  const totals = measure(files, fileSize, changesets, roots);
  writeBundle(path, totals, streamed(names, { fileSize, changesets, roots }));
  const tip = linearLog(changelog, 'changelog').nodes.at(-1) ?? '0'.repeat(40);
  return { path, size: statSync(path).size, storeFiles: totals.files, storeBytes: totals.bytes, tip };
}

/** Folders of a hundred files, sorted as their names are. */
function fileName(i: number): string {
  const digits = String(i).padStart(7, '0');
  return `dir${digits.slice(0, 5)}/file${digits}.txt`;
}

/** Text that differs from file to file and does not begin like metadata. */
function fileText(i: number, size: number): Buffer {
  return Buffer.alloc(size, `file ${i} of a made-up history\n`);
}

function storeFiles(radix: string, log: RevlogFiles): StreamedFile[] {
  const index = { name: `${radix}.i`, bytes: log.index };
  return log.data ? [{ name: `${radix}.d`, bytes: log.data }, index] : [index];
}

function* streamed(
  names: readonly string[],
  rest: { fileSize: number; changesets: number; roots: StreamedFile[] },
): Generator<StreamedFile> {
  for (const [i, name] of names.entries()) {
    const log = filelog(fileText(i, rest.fileSize), i % rest.changesets);
    yield* storeFiles(`data/${name}`, log.files);
  }
  yield* rest.roots;
}

function measure(files: number, fileSize: number, changesets: number, roots: readonly StreamedFile[]) {
  let count = roots.length;
  let bytes = roots.reduce((sum, file) => sum + file.bytes.length, 0);
  if (files > 0) {
    // All file logs have the same size.
    const one = storeFiles('x', filelog(fileText(0, fileSize), changesets - 1).files);
    count += files * one.length;
    bytes += files * one.reduce((sum, file) => sum + file.bytes.length, 0);
  }
  return { files: count, bytes };
}

/** HG20, no stream parameters, one mandatory STREAM2 part, end. */
function writeBundle(path: string, totals: { files: number; bytes: number }, files: Iterable<StreamedFile>): void {
  const fd = openSync(path, 'w');
  try {
    const params = [
      ['bytecount', String(totals.bytes)],
      ['filecount', String(totals.files)],
      ['requirements', REQUIREMENTS],
    ];
    const header = Buffer.concat([
      Buffer.from([7, ...Buffer.from('STREAM2'), 0, 0, 0, 0, params.length, 0]),
      Buffer.from(params.flatMap((pair) => pair.map((word) => word.length))),
      Buffer.from(params.flat().join('')),
    ]);
    writeSync(fd, Buffer.concat([Buffer.from('HG20'), u32(0), u32(header.length), header]));
    let held: Uint8Array[] = [];
    let size = 0;
    const flush = (): void => {
      if (size > 0) writeSync(fd, Buffer.concat([u32(size), ...held]));
      held = [];
      size = 0;
    };
    for (const { name, bytes } of files) {
      const head = Buffer.from([0x73, ...varint(name.length), ...varint(bytes.length), ...Buffer.from(name)]);
      held.push(head, bytes);
      size += head.length + bytes.length;
      if (size >= PART_CHUNK) flush();
    }
    flush();
    writeSync(fd, Buffer.concat([u32(0), u32(0)]));
  } finally {
    closeSync(fd);
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
