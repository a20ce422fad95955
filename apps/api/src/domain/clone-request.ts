import { EngineSettings, SourceRef, VerifyLevel } from '@quicksilver/jobs';
import { z } from 'zod';

/** What a clone is asked to do. Kept with the mirror, and copied into each task when it is asked for. */
export const CloneRequest = z.strictObject({ source: SourceRef, verify: VerifyLevel, settings: EngineSettings });
export type CloneRequest = z.infer<typeof CloneRequest>;

export function sameSource(a: SourceRef, b: SourceRef): boolean {
  return a.kind === b.kind && a.path === b.path;
}

export function sameRequest(a: CloneRequest, b: CloneRequest): boolean {
  const settings = EngineSettings.keyof().options;
  return (
    sameSource(a.source, b.source) &&
    a.verify === b.verify &&
    settings.every((setting) => a.settings[setting] === b.settings[setting])
  );
}
