import type { HgRunner } from './real-hg.ts';

/** What stock hg says about a repository: two that are equal here are the same to every command of hg. */
export interface RepositoryFacts {
  readonly log: unknown;
  readonly heads: unknown;
  readonly branches: unknown;
  readonly tags: unknown;
  readonly bookmarks: unknown;
  /** Of every revision, in order: `<rev> <phase>`. */
  readonly phases: string;
  /** Tracked files of the tip, with flags and nodes. */
  readonly manifest: string;
}

/** Asks hg for log, heads (closed ones too), branches, tags, bookmarks, phases and the tip's manifest. */
export async function repositoryFacts(hg: HgRunner, repository: string): Promise<RepositoryFacts> {
  const ask = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await hg.run(['-R', repository, ...args]);
    // 1 says "nothing found": an empty repository has no heads.
    if (code !== 0 && code !== 1) throw new Error(`hg ${args.join(' ')} failed in ${repository}: ${stderr || stdout}`);
    return stdout;
  };
  const json = async (...args: string[]): Promise<unknown> => {
    const text = await ask(...args, '-T', 'json');
    return text.trim() === '' ? [] : JSON.parse(text);
  };
  return {
    log: await json('log', '--debug'),
    heads: await json('heads', '-c', '-t'),
    branches: await json('branches', '-c'),
    tags: await json('tags'),
    bookmarks: await json('bookmarks'),
    phases: await ask('log', '-T', '{rev} {phase}\n'),
    manifest: await ask('manifest', '--debug', '-r', 'tip'),
  };
}
