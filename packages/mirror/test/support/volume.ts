import { randomUUID } from 'node:crypto';
import { type TmpDir, tmpDir } from '@quicksilver/testing';
import type { MirrorContext } from '../../src/context.ts';
import type { TaskRef } from '../../src/task-ref.ts';
import { Volume } from '../../src/volume.ts';

export interface TestVolume extends Disposable {
  readonly dir: TmpDir;
  readonly volume: Volume;
}

/** A volume of its own, removed at the end of the scope. */
export async function testVolume(): Promise<TestVolume> {
  const dir = tmpDir('quicksilver-mirror');
  const volume = await Volume.init(dir.join('volume'), { name: 'main' });
  return { dir, volume, [Symbol.dispose]: () => dir[Symbol.dispose]() };
}

export function context(more: Partial<MirrorContext> = {}): MirrorContext {
  return { signal: new AbortController().signal, lockDuration: 30_000, ...more };
}

export function task(number: number): TaskRef {
  return { id: randomUUID(), number };
}

/** The code of what a promise rejects with; undefined when it does not. */
export async function codeOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
    return undefined;
  } catch (err) {
    return err instanceof Error && 'code' in err ? err.code : err;
  }
}
