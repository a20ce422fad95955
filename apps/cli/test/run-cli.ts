import { fileURLToPath } from 'node:url';
import { type SpawnNodeOptions, type SpawnResult, spawnNode } from '@quicksilver/testing';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** The command as a real process, from its sources. */
export function runCli(args: readonly string[], options: Omit<SpawnNodeOptions, 'args'> = {}): Promise<SpawnResult> {
  return spawnNode(MAIN, { ...options, args });
}
