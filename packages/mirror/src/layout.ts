import { join } from 'node:path';
import { HgError } from '@quicksilver/hg-types';
import { encodeMirrorName } from './names.ts';

/** Folders directly below a volume. */
export const VOLUME_FOLDERS = ['mirrors', 'generations', 'bundles', 'spool', 'staging', 'locks', 'trash'] as const;

/** Locks of the volume as a whole, beside the lanes. Encoded names never begin with a dot. */
const FOLDERS_LOCK = '.mirrors';
const FLUSH_TICKET = '.flush';

/** Where everything lies. Pure: no path here is known to exist. */
export class VolumePaths {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  get description(): string {
    return join(this.root, 'volume.json');
  }
  folder(name: (typeof VOLUME_FOLDERS)[number]): string {
    return join(this.root, name);
  }
  /** The symlink that hg and web servers open. */
  link(mirror: string): string {
    return join(this.root, 'mirrors', ...mirror.split('/'));
  }
  generations(mirror: string): string {
    return join(this.root, 'generations', encodeMirrorName(mirror));
  }
  generation(mirror: string, n: number): string {
    return join(this.generations(mirror), String(n));
  }
  receipt(mirror: string, n: number): string {
    return join(this.generations(mirror), `${n}.json`);
  }
  bundles(mirror: string): string {
    return join(this.root, 'bundles', encodeMirrorName(mirror));
  }
  lane(mirror: string): string {
    return join(this.root, 'locks', encodeMirrorName(mirror));
  }
  /** `name` is a staging name, or one with a suffix (see `parseStagingName`). */
  staging(name: string): string {
    return join(this.root, 'staging', name);
  }
  /** Downloads of one task; below it a folder per fence, of which only the latest is anybody's. */
  spool(taskId: string): string {
    return join(this.root, 'spool', checkTaskId(taskId));
  }
  /** Shared by whoever puts a link below `mirrors/`, exclusive for whoever removes folders there. */
  get foldersLock(): string {
    return join(this.root, 'locks', FOLDERS_LOCK);
  }
  get flushTicket(): string {
    return join(this.root, 'locks', FLUSH_TICKET);
  }
}

const TASK_ID = /^[A-Za-z0-9][A-Za-z0-9-]{0,63}$/;

/** `<task>.<fence>`: the folder of one attempt. */
export function stagingName(taskId: string, fence: number): string {
  return `${checkTaskId(taskId)}.${fence}`;
}

export function isTaskId(text: string): boolean {
  return TASK_ID.test(text);
}

function checkTaskId(taskId: string): string {
  if (!isTaskId(taskId)) throw new HgError('HG_USAGE', 'a task id is letters, digits and "-"', { task: taskId });
  return taskId;
}

/**
 * Which attempt an entry of `staging/` belongs to; undefined for what is not ours. Beside the folder there are files
 * `<task>.<fence>.<suffix>`: the write receipt of a sealed attempt (`write.json`), and what is on its way to its place
 * elsewhere (`receipt`, `link`, `part`, `<random>.part`). Nothing half-written is ever made anywhere else.
 */
export function parseStagingName(entry: string): { taskId: string; fence: number } | undefined {
  const match =
    /^([A-Za-z0-9][A-Za-z0-9-]{0,63})\.([1-9][0-9]{0,15})(?:\.(?:write\.json|receipt|link|(?:[0-9a-f-]{36}\.)?part))?$/.exec(
      entry,
    );
  return match?.[1] !== undefined ? { taskId: match[1], fence: Number(match[2]) } : undefined;
}
