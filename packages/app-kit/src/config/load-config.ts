import { z } from 'zod';

/** A configuration that cannot be used. Names settings and what is wrong with them, never their values. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly settings: readonly string[];

  constructor(problems: ReadonlyMap<string, string>) {
    const lines = Array.from(problems, ([name, problem]) => `  ${name}: ${problem}`);
    super(`the configuration cannot be used:\n${lines.join('\n')}`);
    this.settings = [...problems.keys()];
  }
}

/**
 * Reads the environment once, at start. An empty variable counts as unset, since that is what compose files and
 * units make of a variable that nobody filled in.
 * @throws ConfigError naming every setting that is wrong
 */
export function loadConfig<T>(schema: z.ZodType<T>, env: NodeJS.ProcessEnv = process.env): T {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const parsed = schema.safeParse(given, { reportInput: false });
  if (parsed.success) return parsed.data;
  const problems = new Map<string, string>();
  for (const issue of parsed.error.issues) {
    const name = String(issue.path[0] ?? 'environment');
    const problem = name in given ? issue.message : 'is not set';
    problems.set(name, problems.has(name) ? `${problems.get(name)}; ${problem}` : problem);
  }
  throw new ConfigError(problems);
}
