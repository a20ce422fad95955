import { describeFault, faultRecord } from '@quicksilver/hg-types';
import type { VolumeSetting } from '../config/settings.ts';
import type { HealthResult } from './health-registry.ts';

/**
 * Whether a configured volume can be used. One that is missing or not initialised is not made: it may be a mount that
 * has yet to come. A hung mount costs one waiting call, however often it is asked after.
 */
export function volumeCheck(
  open: (path: string) => Promise<{ readonly name: string }>,
): (volume: VolumeSetting) => Promise<HealthResult> {
  const asking = new Map<string, Promise<HealthResult>>();
  return (volume) => {
    const current = asking.get(volume.path);
    if (current) return current;
    const fresh = look(open, volume).finally(() => asking.delete(volume.path));
    asking.set(volume.path, fresh);
    return fresh;
  };
}

async function look(
  open: (path: string) => Promise<{ readonly name: string }>,
  { name, path }: VolumeSetting,
): Promise<HealthResult> {
  try {
    const volume = await open(path);
    if (volume.name === name) return { ok: true };
    return { ok: false, reason: `the volume at ${path} is called "${volume.name}", not "${name}"` };
  } catch (err) {
    return { ok: false, reason: describeFault(faultRecord(err)) };
  }
}
