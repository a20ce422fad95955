import type { Checkpoint } from '../../src/checkpoints.ts';
import { type CloneRequest, cloneToStaging } from '../../src/clone.ts';
import { type CloseRequest, cancelTask, closeTask } from '../../src/close.ts';
import { runJanitor } from '../../src/janitor.ts';
import { Lane } from '../../src/lane/lane.ts';
import { cloneLocal } from '../../src/local.ts';
import type { TaskRef } from '../../src/task-ref.ts';
import { Volume } from '../../src/volume.ts';

/** What a process of a test can be told to do. Inputs are plain data. */
export interface Operations {
  clone: { root: string; request: CloneRequest; lockDuration?: number };
  close: { root: string; request: CloseRequest; lockDuration?: number };
  cancel: { root: string; request: { task: TaskRef; mirror: string }; lockDuration?: number };
  janitor: { root: string; graceMs: number };
  hold: { root: string; mirror: string };
  local: { path: string; dest: string };
}

export type OperationName = keyof Operations;

export async function runOperation(
  name: string,
  input: unknown,
  checkpoint: (name: Checkpoint) => void,
): Promise<unknown> {
  const signal = new AbortController().signal;
  switch (name as OperationName) {
    case 'clone': {
      const { root, request, lockDuration } = input as Operations['clone'];
      return cloneToStaging(await Volume.open(root), request, { signal, checkpoint, lockDuration });
    }
    case 'close': {
      const { root, request, lockDuration } = input as Operations['close'];
      return closeTask(await Volume.open(root), request, { signal, checkpoint, lockDuration });
    }
    case 'cancel': {
      const { root, request, lockDuration } = input as Operations['cancel'];
      return cancelTask(await Volume.open(root), request, { signal, checkpoint, lockDuration });
    }
    case 'janitor': {
      const { root, graceMs } = input as Operations['janitor'];
      return runJanitor(await Volume.open(root), { graceMs, signal });
    }
    case 'hold': {
      const { root, mirror } = input as Operations['hold'];
      await using _lane = await Lane.acquire(await Volume.open(root), mirror, { signal, lockDuration: 30_000 });
      process.stdout.write(`${JSON.stringify({ at: 'held' })}\n`);
      return await new Promise(() => setInterval(() => {}, 1000));
    }
    case 'local': {
      const { path, dest } = input as Operations['local'];
      const source = { kind: 'bundle-file', path } as const;
      return cloneLocal({ source, dest, settings: {}, flush: true, signal, checkpoint });
    }
    default:
      throw new Error(`no operation ${name}`);
  }
}
