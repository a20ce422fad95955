import { EngineSettings, SourceRef, VerifyLevel } from '@quicksilver/jobs';
import { z } from 'zod';

/** What a clone is asked to do. Kept with the mirror, and copied into each task when it is asked for. */
export const CloneRequest = z.strictObject({ source: SourceRef, verify: VerifyLevel, settings: EngineSettings });
export type CloneRequest = z.infer<typeof CloneRequest>;

export function sameSource(a: SourceRef, b: SourceRef): boolean {
  if (a.kind === 'bundle-file' || b.kind === 'bundle-file') return a.kind === b.kind && placeOf(a) === placeOf(b);
  return a.url === b.url && a.digest === b.digest;
}

function placeOf(source: SourceRef): string {
  return source.kind === 'bundle-file' ? source.path : source.url;
}

/** A source as it may be told to anyone: the query of an address may be a signature. */
export function shownSource(source: SourceRef): string {
  return placeOf(source).replace(source.kind === 'bundle-url' ? /\?.*$/s : /$^/, '?...');
}

export function sameRequest(a: CloneRequest, b: CloneRequest): boolean {
  const settings = EngineSettings.keyof().options;
  return (
    sameSource(a.source, b.source) &&
    a.verify === b.verify &&
    settings.every((setting) => a.settings[setting] === b.settings[setting])
  );
}
