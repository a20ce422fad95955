import { type CloneRequest, sameRequest, sameSource } from './clone-request.ts';
import type { TaskAction, TaskState } from './lifecycle.ts';

/** The facts of a task that decisions are made on. */
export interface TaskFacts {
  readonly id: string;
  readonly action: TaskAction;
  readonly state: TaskState;
  readonly cancelRequested: boolean;
  readonly request: CloneRequest | null;
}

export interface MirrorFactsForDecision {
  readonly volume: string;
  readonly request: CloneRequest | null;
  readonly retired: boolean;
  /** Not settled, in the order of the lane. */
  readonly open: readonly TaskFacts[];
  readonly last: TaskFacts | undefined;
}

/** A caller is always told which of the three it was. */
export type Decision =
  | { readonly kind: 'create' }
  | { readonly kind: 'merge'; readonly task: TaskFacts | undefined }
  | { readonly kind: 'refuse'; readonly code: 'API_MIRROR_EXISTS' | 'API_RETIRING'; readonly task?: string };

/** POST of a mirror: a new name, one that was retired, or one that exists. */
export function decideCreate(
  mirror: MirrorFactsForDecision | undefined,
  wanted: { readonly request: CloneRequest; readonly volume: string | undefined },
): Decision {
  if (!mirror) return { kind: 'create' };
  const retiring = openRetire(mirror);
  if (retiring) return { kind: 'refuse', code: 'API_RETIRING', task: retiring.id };
  const otherVolume = wanted.volume !== undefined && wanted.volume !== mirror.volume;
  // A task of before may still publish where it was: the name moves once nothing is under way there.
  const [open] = mirror.open;
  if (mirror.retired && open && otherVolume) return { kind: 'refuse', code: 'API_RETIRING', task: open.id };
  if (mirror.retired) return { kind: 'create' };
  if (otherVolume || !mirror.request || !sameSource(mirror.request.source, wanted.request.source)) {
    return { kind: 'refuse', code: 'API_MIRROR_EXISTS' };
  }
  return { kind: 'merge', task: mirror.open[0] ?? mirror.last };
}

/**
 * POST of another clone: it really runs, unless one that does the same is wanted or under way. After PATCH the one
 * under way does something else, so that one follow-up is made; wanted ones always carry the mirror's present request.
 */
export function decideClone(mirror: MirrorFactsForDecision, request: CloneRequest): Decision {
  const retiring = openRetire(mirror);
  if (retiring) return { kind: 'refuse', code: 'API_RETIRING', task: retiring.id };
  const same = mirror.open.find(
    (task) => task.action === 'clone' && !task.cancelRequested && task.request && sameRequest(task.request, request),
  );
  return same ? { kind: 'merge', task: same } : { kind: 'create' };
}

export function decideRetire(mirror: MirrorFactsForDecision): Decision {
  const retiring = openRetire(mirror);
  if (retiring) return { kind: 'merge', task: retiring };
  return mirror.retired ? { kind: 'merge', task: mirror.last } : { kind: 'create' };
}

function openRetire(mirror: MirrorFactsForDecision): TaskFacts | undefined {
  return mirror.open.find((task) => task.action === 'retire' && !task.cancelRequested);
}
