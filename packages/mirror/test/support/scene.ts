import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fixturePath, writeSyntheticBundle } from '@quicksilver/testing';
import { type CloneRequest, cloneToStaging } from '../../src/clone.ts';
import { type CloseRequest, closeTask, type WrittenRecord } from '../../src/close.ts';
import type { Settled } from '../../src/outcome.ts';
import type { TaskRef } from '../../src/task-ref.ts';
import type { Volume } from '../../src/volume.ts';
import { context, type TestVolume, task, testVolume } from './volume.ts';

export interface Scene extends TestVolume {
  readonly mirror: string;
  /** A bundle of a made-up history, small; `label` says which one it is. */
  bundle(label?: string): string;
  cloneRequest(task: TaskRef, path?: string): CloneRequest;
  closeRequest(task: TaskRef, written: WrittenRecord | undefined, more?: Partial<CloseRequest>): CloseRequest;
  /** Both halves of the main job. */
  publish(task: TaskRef, path?: string): Promise<Settled>;
}

/** A volume and one mirror's name, with all that is needed to work on it. */
export async function scene(mirror = 'mozilla/central'): Promise<Scene> {
  const test = await testVolume();
  const bundle = (label = 'first'): string => {
    const path = test.dir.join(`${label}.hg`);
    writeSyntheticBundle(path, { files: 12, fileSize: 200, changesets: 3, label });
    return path;
  };
  const first = bundle();
  const cloneRequest = (ref: TaskRef, path = first): CloneRequest => ({
    task: ref,
    mirror,
    source: { kind: 'bundle-file', path },
    sourceRoots: [test.dir.path, fixturePath('.')],
    settings: {},
  });
  const closeRequest = (
    ref: TaskRef,
    written: WrittenRecord | undefined,
    more: Partial<CloseRequest> = {},
  ): CloseRequest => ({
    task: ref,
    mirror,
    action: 'publish',
    source: { kind: 'bundle-file', path: first },
    written,
    cancelled: false,
    flush: false,
    verify: 'quick',
    ...more,
  });
  const publish = async (ref: TaskRef, path = first): Promise<Settled> => {
    const written = await cloneToStaging(test.volume, cloneRequest(ref, path), context());
    return closeTask(test.volume, closeRequest(ref, written), context());
  };
  return {
    ...test,
    mirror,
    bundle,
    cloneRequest,
    closeRequest,
    publish,
    [Symbol.dispose]: () => test[Symbol.dispose](),
  };
}

/** Everything below the volume that is not a lane, sorted: what a test expects to find, and nothing else. */
export async function remains(volume: Volume): Promise<string[]> {
  const found: string[] = [];
  const walk = async (folder: string, prefix: string): Promise<void> => {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = `${prefix}${entry.name}`;
      // Inside a generation lies an ordinary repository: that it is there is enough.
      if (entry.isDirectory() && !/^generations\/[^/]+\/[0-9]+$/.test(path))
        await walk(join(folder, entry.name), `${path}/`);
      else found.push(path);
    }
  };
  for (const name of await readdir(volume.root)) {
    if (name !== 'locks' && name !== 'volume.json') await walk(join(volume.root, name), `${name}/`);
  }
  return found.sort();
}

/** What `remains` says of a mirror with these generations, and nothing left over. */
export function only(mirror: string, ...generations: number[]): string[] {
  const folder = `generations/${encodeURIComponent(mirror)}`;
  return [...generations.flatMap((n) => [`${folder}/${n}`, `${folder}/${n}.json`]), `mirrors/${mirror}`].sort();
}

export { task };
