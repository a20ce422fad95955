import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type HgRunner, type RepositoryFacts, repositoryFacts } from '@quicksilver/testing';

/** hg on one repository, with the settings that its fixture needs. */
export interface Repository {
  readonly path: string;
  hg(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }>;
  facts(): Promise<RepositoryFacts>;
}

export function repositoryAt(hg: HgRunner, path: string, config: readonly string[] = []): Repository {
  const settings = config.flatMap((item) => ['--config', item]);
  const run = (args: readonly string[]) => hg.run([...args, ...settings], { cwd: path });
  const configured: HgRunner = { version: hg.version, run: (args) => hg.run([...args, ...settings]) };
  return { path, hg: (...args) => run(args), facts: () => repositoryFacts(configured, path) };
}

/** What stock hg makes of the bundle by itself: the judge. */
export async function unbundled(
  hg: HgRunner,
  bundle: string,
  at: { path: string; config?: readonly string[] },
): Promise<Repository> {
  const made = await hg.run(['init', at.path]);
  if (made.code !== 0) throw new Error(made.stderr);
  const repository = repositoryAt(hg, at.path, at.config);
  // Streams of version 1 are applied by a command of their own.
  const applied = await repository.hg(
    bundle.endsWith('.packed1.hg') ? 'debugapplystreamclonebundle' : 'unbundle',
    bundle,
  );
  if (applied.code !== 0) throw new Error(`hg itself refuses ${bundle}: ${applied.stderr || applied.stdout}`);
  return repository;
}

/** What a person would do next in a repository: check out, commit, bundle. Returns what hg answered to each. */
export async function workIn(repository: Repository): Promise<Record<string, unknown>> {
  const update = await repository.hg('update');
  // A checkout that hg cannot do (a subrepository out of reach) is left, and the commit becomes a new root.
  if (update.code !== 0) await repository.hg('update', '-C', 'null');
  const commit = await commitFile(repository, 'zz-new-file');
  const bundle = await repository.hg('bundle', '-a', '-t', 'gzip-v2', join(repository.path, '.hg', 'out.bundle'));
  const heads = await repository.hg('heads', '-T', '{node} ');
  return { update: update.code, commit, bundle: bundle.code, heads: heads.stdout };
}

/** Adds and commits one file; returns the exit code. */
export async function commitFile(repository: Repository, name: string): Promise<number> {
  writeFileSync(join(repository.path, name), `${name}\n`);
  await repository.hg('add', name);
  return (await repository.hg('commit', '-d', '1000 0', '-m', `add ${name}`, name)).code;
}
