import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { tmpDir } from '@quicksilver/testing';
import { applyStreamBundle } from '../../src/apply.ts';
import type { StreamCloneOptions, WriteReceipt } from '../../src/types.ts';

export type ApplySettings = Partial<Omit<StreamCloneOptions, 'source'>>;

export interface Applied extends Disposable {
  readonly root: string;
  readonly receipt: WriteReceipt;
}

/** Applies a bundle file into a new directory, removed at the end of its scope. */
export async function apply(path: string, settings: ApplySettings = {}): Promise<Applied> {
  const dir = tmpDir('stream-clone');
  const root = dir.join('root');
  mkdirSync(root);
  try {
    const receipt = await applyStreamBundle({
      source: { kind: 'file', path },
      root,
      signal: new AbortController().signal,
      ...settings,
    });
    return { root, receipt, [Symbol.dispose]: () => dir[Symbol.dispose]() };
  } catch (err) {
    dir[Symbol.dispose]();
    throw err;
  }
}

export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly where: Readonly<Record<string, string | number>>;
  /** No Mercurial would take what is left for a repository. */
  readonly unreadable: boolean;
  /** Names in the parent of the root: nothing was written beside it. */
  readonly beside: string[];
}

/** Applies a bundle that must fail, and says how it did. */
export async function refusal(path: string, settings: ApplySettings = {}): Promise<Refusal> {
  using dir = tmpDir('stream-clone');
  const root = settings.root ?? dir.join('root');
  if (settings.root === undefined) mkdirSync(root);
  try {
    const signal = AbortSignal.timeout(30_000);
    await applyStreamBundle({ source: { kind: 'file', path }, signal, ...settings, root });
  } catch (err) {
    const { code, message, where } = err as Refusal;
    const unreadable = !existsSync(`${root}/.hg/requires`) && !existsSync(`${root}/.hg/00changelog.i`);
    return { code, message, where, unreadable, beside: readdirSync(dir.path) };
  }
  throw new Error(`${path} was accepted`);
}
