import { readdirSync } from 'node:fs';
import { fixture, fixtureJson, fixturePath } from '@quicksilver/testing';

/** One entry as the sidecar has it. */
export interface GoldenEntry {
  readonly rev: number;
  readonly offset: number;
  readonly flags: number;
  readonly clen: number;
  readonly ulen: number;
  readonly base: number;
  readonly link: number;
  readonly p1: number;
  readonly p2: number;
  readonly node: string;
  readonly chunk_type: string;
  readonly text_sha256: string;
  readonly size_ok: boolean;
  readonly hash_ok: boolean;
}

export interface GoldenRevlog {
  readonly version: string;
  readonly inline: boolean;
  readonly generaldelta: boolean;
  readonly index_size: number;
  readonly data_size: number | null;
  readonly revs: number;
  readonly entries: readonly GoldenEntry[];
}

export interface RevlogFixture {
  readonly name: string;
  readonly index: Uint8Array;
  readonly data: Uint8Array | undefined;
  readonly facts: GoldenRevlog;
}

export function isRecord(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

function isGoldenRevlog(json: unknown): json is GoldenRevlog {
  return isRecord(json) && typeof json.version === 'string' && Array.isArray(json.entries);
}

export function goldenRevlogs(): RevlogFixture[] {
  const files = readdirSync(fixturePath('revlog'));
  const all = files.filter((file) => file.endsWith('.i')).map((file) => file.slice(0, -2));
  return all.map((name) => {
    const facts = fixtureJson(`revlog/${name}.json`);
    if (!isGoldenRevlog(facts)) throw new Error(`${name}.json describes no revlog`);
    const data = files.includes(`${name}.d`) ? fixture(`revlog/${name}.d`) : undefined;
    return { name, index: fixture(`revlog/${name}.i`), data, facts };
  });
}
