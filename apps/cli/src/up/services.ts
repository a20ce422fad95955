import { fileURLToPath } from 'node:url';
import type { ChildSpec } from './child.ts';
import { ownFile } from './redis.ts';

export const SERVICES = ['api', 'writer', 'closer'] as const;
export type ServiceName = (typeof SERVICES)[number];

/** What a service may take beyond its own grace before it is killed: its last wall ends it earlier. */
const AFTER_GRACE = 15_000;

export type ServiceEntry = (service: ServiceName) => readonly string[];

export interface ServiceSpecOptions {
  readonly env: () => NodeJS.ProcessEnv;
  readonly grace: number;
  /** Program and arguments of each, for tests; by default the built services. */
  readonly entry?: ServiceEntry | undefined;
}

export function serviceSpec(name: ServiceName, options: ServiceSpecOptions): ChildSpec {
  const entry = options.entry?.(name) ?? [fileURLToPath(import.meta.resolve(`@quicksilver/${name}/main`))];
  const preload = new URL(ownFile('die-with-parent'), import.meta.url).href;
  return {
    name,
    command: process.execPath,
    args: ['--disable-warning=ExperimentalWarning', '--import', preload, ...entry],
    env: options.env,
    stopDeadline: options.grace + AFTER_GRACE,
  };
}
