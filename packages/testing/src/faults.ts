import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCE = fileURLToPath(new URL('../native/faults.c', import.meta.url));
const CACHE = fileURLToPath(new URL('../../../.cache/faults/', import.meta.url));
const COUNTER_BYTES = 24;

export interface FaultRule {
  /** `sync` is fsync and fdatasync; `syncfs` flushes a whole file system. */
  readonly kind: 'open' | 'read' | 'write' | 'close' | 'sync' | 'syncfs';
  /** Only files whose absolute path starts so. */
  readonly path?: string;
  /** Only files whose path contains this. */
  readonly has?: string;
  /** Only the n-th matching call of the whole run, from 1. */
  readonly nth?: number;
  /** The n-th matching call and all later ones. */
  readonly from?: number;
  /** For example `ENOSPC`. */
  readonly errno?: keyof typeof constants.errno;
  /** Reads and writes transfer at most so many bytes a call. */
  readonly short?: number;
  /** Writes succeed for so many bytes in all, then fail with `errno`. */
  readonly room?: number;
  /** Microseconds to sleep before each call. */
  readonly delay?: number;
}

export interface FaultCount {
  readonly calls: number;
  readonly faults: number;
}

/** True where a C compiler can make the library. */
export function canInjectFaults(): boolean {
  return process.platform === 'linux' && spawnSync('cc', ['--version'], { stdio: 'ignore' }).status === 0;
}

/** Path of the built library; built once for each state of its source. */
export function compileFaultLibrary(): string {
  const key = createHash('sha256').update(readFileSync(SOURCE)).update(process.arch).digest('hex').slice(0, 16);
  const path = join(CACHE, `faults-${key}.so`);
  if (existsSync(path)) return path;
  mkdirSync(CACHE, { recursive: true });
  const draft = `${path}.${process.pid}`;
  const built = spawnSync('cc', ['-O2', '-shared', '-fPIC', '-o', draft, SOURCE, '-ldl', '-lpthread']);
  if (built.status !== 0) throw new Error(`cc could not build the fault library: ${built.stderr?.toString() ?? ''}`);
  renameSync(draft, path);
  return path;
}

/** Environment for a child whose system calls shall fail so; `counts` is a file that `faultCounts` reads. */
export function faultEnv(rules: readonly FaultRule[], counts?: string): Record<string, string> {
  return {
    LD_PRELOAD: compileFaultLibrary(),
    FAULTS_RULES: rules.map(formatRule).join('\n'),
    ...(counts === undefined ? {} : { FAULTS_COUNTS: counts }),
  };
}

function formatRule(rule: FaultRule): string {
  const fields = Object.entries(rule).map(([name, value]) =>
    name === 'errno' ? `errno=${constants.errno[value as keyof typeof constants.errno]}` : `${name}=${value}`,
  );
  return fields.join('\t');
}

/** How often each rule met a call and made a fault of it, over all processes of the run. */
export function faultCounts(counts: string, rules: number): FaultCount[] {
  const bytes = readFileSync(counts);
  return Array.from({ length: rules }, (_, rule) => ({
    calls: Number(bytes.readBigUInt64LE(rule * COUNTER_BYTES)),
    faults: Number(bytes.readBigUInt64LE(rule * COUNTER_BYTES + 8)),
  }));
}
