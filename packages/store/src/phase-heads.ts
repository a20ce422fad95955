import { PHASE, type Phase, type Rev } from '@quicksilver/hg-types';

export interface RevPhase {
  readonly rev: Rev;
  readonly phase: Phase;
}

/** A changelog as two columns: the parents of each revision, -1 for none, always below the revision itself. */
export interface ParentColumns {
  readonly p1: Int32Array;
  readonly p2: Int32Array;
}

/**
 * Phase roots after a sender has said where its heads are: everything up to a head is in that head's phase or a more
 * public one. Phases only move towards public by this. Revisions outside the columns are the caller's to refuse.
 */
export function applyPhaseHeads(
  parents: ParentColumns,
  roots: Iterable<RevPhase>,
  heads: Iterable<RevPhase>,
): RevPhase[] {
  const phases = phasesOf(parents, roots);
  lowerToHeads(parents, phases, heads);
  return rootsOf(parents, phases);
}

/** Phase numbers (0 to 96) of all revisions: the highest of the roots a revision descends from. */
export function phasesOf({ p1, p2 }: ParentColumns, roots: Iterable<RevPhase>): Uint8Array {
  const phases = new Uint8Array(p1.length);
  for (const { rev, phase } of roots) phases[rev] = Math.max(phases[rev] ?? 0, phase);
  for (let rev = 0; rev < phases.length; rev++) {
    phases[rev] = Math.max(phases[rev] ?? 0, phases[p1[rev] ?? -1] ?? 0, phases[p2[rev] ?? -1] ?? 0);
  }
  return phases;
}

function lowerToHeads({ p1, p2 }: ParentColumns, phases: Uint8Array, heads: Iterable<RevPhase>): void {
  const NONE = 0xff;
  const bound = new Uint8Array(phases.length).fill(NONE);
  for (const { rev, phase } of heads) bound[rev] = Math.min(bound[rev] ?? NONE, phase);
  for (let rev = phases.length - 1; rev >= 0; rev--) {
    const limit = bound[rev] ?? NONE;
    if (limit === NONE) continue;
    phases[rev] = Math.min(phases[rev] ?? 0, limit);
    // Ancestors have lower numbers, so each is visited after all of its descendants.
    for (const parent of [p1[rev] ?? -1, p2[rev] ?? -1]) {
      if (parent >= 0) bound[parent] = Math.min(bound[parent] ?? NONE, limit);
    }
  }
}

function rootsOf({ p1, p2 }: ParentColumns, phases: Uint8Array): RevPhase[] {
  const known = new Map<number, Phase>(Object.values(PHASE).map((phase) => [phase, phase]));
  const roots: RevPhase[] = [];
  for (let rev = 0; rev < phases.length; rev++) {
    const phase = known.get(phases[rev] ?? 0) ?? PHASE.public;
    if (phase > Math.max(phases[p1[rev] ?? -1] ?? 0, phases[p2[rev] ?? -1] ?? 0)) roots.push({ rev, phase });
  }
  return roots;
}
