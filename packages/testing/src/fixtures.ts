import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `src` and `dist` lie at the same depth, so one relative address serves both. */
const ROOT = fileURLToPath(new URL('../fixtures/', import.meta.url));

export interface Fixture {
  /** File name without its extension, unique in its folder. */
  readonly name: string;
  readonly path: string;
  readonly bytes: Buffer;
  /** The JSON that lies beside it (undefined where there is none): what stock hg said about these bytes. */
  readonly sidecar: unknown;
}

/** Absolute path of a golden file; `relative` as in `stream/basic.stream-v2.hg`. */
export function fixturePath(relative: string): string {
  return join(ROOT, relative);
}

export function fixture(relative: string): Buffer {
  return readFileSync(fixturePath(relative));
}

export function fixtureJson(relative: string): unknown {
  return JSON.parse(readFileSync(fixturePath(relative), 'utf8'));
}

/** Every golden `.hg` file of a folder whose name matches, in name order; bytes and sidecar are read on first use. */
export function fixtures(folder: string, pattern = /./): Fixture[] {
  const names = readdirSync(join(ROOT, folder)).filter((name) => name.endsWith('.hg') && pattern.test(name));
  if (names.length === 0) throw new Error(`no fixture in ${folder} matches ${pattern}`);
  const all = new Set(readdirSync(join(ROOT, folder)));
  return names.sort().map((file) => lazyFixture(join(folder, file), all.has(file.replace(/\.hg$/, '.json'))));
}

function lazyFixture(relative: string, hasSidecar: boolean): Fixture {
  let bytes: Buffer | undefined;
  let sidecar: unknown;
  return {
    name: basename(relative, '.hg'),
    path: fixturePath(relative),
    get bytes() {
      bytes ??= fixture(relative);
      return bytes;
    },
    get sidecar() {
      if (hasSidecar) sidecar ??= fixtureJson(relative.replace(/\.hg$/, '.json'));
      return sidecar;
    },
  };
}
