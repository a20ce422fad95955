import { constants } from 'node:os';
import { CodedError } from '@quicksilver/bytes';
import { libc, systemError } from './libc.ts';

/** Linux, x64 and arm64: man 2 mmap. */
const PROT_READ = 1;
const MAP_SHARED = 0x01;
const MAP_POPULATE = 0x8000;
/** mmap(2) reports failure by the address -1. */
const MAP_FAILED = 0xffff_ffff_ffff_ffffn;

/** What a part of a mapping is told, man 2 madvise. `populate` reads pages in and enters them (Linux 5.14). */
const ADVICE = { random: 1, sequential: 2, willNeed: 3, populate: 22 } as const;
export type MapAdvice = keyof typeof ADVICE;

/** Where a file is mapped. Holding it keeps nothing alive: whoever mapped must unmap. */
export interface MapRegion {
  readonly address: bigint;
  readonly length: number;
}

interface Calls {
  readonly mmap: (
    address: null,
    length: number,
    protection: number,
    flags: number,
    fd: number,
    offset: number,
  ) => bigint;
  readonly munmap: (address: bigint, length: number) => number;
  readonly madvise: {
    (address: bigint, length: number, advice: number): number;
    async(address: bigint, length: number, advice: number, done: (err: unknown, result: number) => void): void;
  };
  readonly view: (address: bigint, length: number) => ArrayBuffer;
  readonly errno: () => number;
}
let loaded: Calls | undefined;

/** Where C cannot be called there is no second way to map; `canMapFiles` asks first. */
function calls(): Calls {
  const c = libc();
  if (!c || process.platform !== 'linux') {
    throw new CodedError('HG_UNSUPPORTED', 'this machine cannot map files: koffi has no binary for it', {
      platform: `${process.platform}-${process.arch}`,
    });
  }
  loaded ??= {
    mmap: c.handle.func('mmap', 'void *', ['void *', 'size_t', 'int', 'int', 'int', 'int64']) as Calls['mmap'],
    munmap: c.handle.func('munmap', 'int', ['void *', 'size_t']) as Calls['munmap'],
    madvise: c.handle.func('madvise', 'int', ['void *', 'size_t', 'int']) as Calls['madvise'],
    view: c.koffi.view,
    errno: c.koffi.errno,
  };
  return loaded;
}

export function canMapFiles(): boolean {
  return process.platform === 'linux' && libc() !== undefined;
}

/**
 * Maps the first `length` bytes of an open file for reading, at least one. The view owns nothing and is not told of
 * `unmapRegion`: it must be emptied (`transfer()`) before that. Writing to it, and reading what somebody cut off the
 * file meanwhile, ends the process.
 */
export function mapFile(fd: number, length: number, populate: boolean): { region: MapRegion; view: ArrayBuffer } {
  const { mmap, view, errno } = calls();
  const address = mmap(null, length, PROT_READ, MAP_SHARED | (populate ? MAP_POPULATE : 0), fd, 0);
  if (BigInt.asUintN(64, address ?? 0n) === MAP_FAILED || address === null) throw systemError(errno(), 'mmap');
  const region = { address, length };
  try {
    return { region, view: view(address, length) };
  } catch (err) {
    unmapRegion(region);
    throw err;
  }
}

export function unmapRegion({ address, length }: MapRegion): void {
  const { munmap, errno } = calls();
  if (munmap(address, length) !== 0) throw systemError(errno(), 'munmap');
}

export interface RegionPart {
  readonly region: MapRegion;
  /** From the start of the region; a multiple of the page size. */
  readonly offset: number;
  readonly length: number;
}

/** Gives advice now. False where this kernel does not know it. */
export function adviseRegion({ region, offset, length }: RegionPart, advice: MapAdvice): boolean {
  const { madvise, errno } = calls();
  if (madvise(region.address + BigInt(offset), length, ADVICE[advice]) === 0) return true;
  const code = errno();
  if (code === constants.errno.EINVAL) return false;
  throw systemError(code, 'madvise');
}

/** Gives advice from another thread (libuv's pool). False where it could not be followed: errno stays over there. */
export function adviseRegionAsync({ region, offset, length }: RegionPart, advice: MapAdvice): Promise<boolean> {
  const { madvise } = calls();
  return new Promise((resolve) => {
    madvise.async(region.address + BigInt(offset), length, ADVICE[advice], (err, result) => {
      resolve((err === null || err === undefined) && result === 0);
    });
  });
}
