import { createRequire } from 'node:module';
import { getSystemErrorName } from 'node:util';
import type * as Koffi from 'koffi';

/** What is used of koffi. It is loaded on first use: most processes of this repository never call C. */
export type KoffiApi = Pick<typeof Koffi, 'load' | 'errno' | 'address' | 'view'>;

type Libc = { readonly koffi: KoffiApi; readonly handle: ReturnType<KoffiApi['load']> };
let loaded: Libc | undefined | 'missing';

/**
 * The process's own libc, or undefined where koffi has no binary for this machine. Loaded as the process itself
 * (`null`), not by file name, so that an interposed library sees these calls as well.
 */
export function libc(): Libc | undefined {
  if (loaded === undefined) {
    try {
      const koffi = createRequire(import.meta.url)('koffi') as KoffiApi;
      loaded = { koffi, handle: koffi.load(null) };
    } catch {
      loaded = 'missing';
    }
  }
  return loaded === 'missing' ? undefined : loaded;
}

/** koffi itself, for libraries other than libc; undefined as above. */
export function koffiApi(): KoffiApi | undefined {
  return libc()?.koffi;
}

/** For tests of the fallbacks: behave as on a machine without koffi until the returned function is called. */
export function withoutLibc(): () => void {
  const before = loaded;
  loaded = 'missing';
  return () => {
    loaded = before;
  };
}

/** An error shaped like the ones of node:fs, so that one table of errno codes serves both. */
export function systemError(errno: number, syscall: string): NodeJS.ErrnoException {
  const code = getSystemErrorName(-errno);
  return Object.assign(new Error(`${code}: ${syscall}`), { code, errno: -errno, syscall });
}
