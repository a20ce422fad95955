import { readdirSync, readlinkSync } from 'node:fs';

/** Files below a folder that this process has open. */
export function openBelow(folder: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`);
      return target.startsWith(folder) ? [target] : [];
    } catch {
      return []; // the one that listed them
    }
  });
}
