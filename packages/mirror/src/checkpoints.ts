/**
 * Every instant between two steps at which a kill leaves another state on disk, in the order of the work. Tests kill
 * and freeze at each; a step that is added gets a name here.
 */
export const CLONE_CHECKPOINTS = [
  'clone-lane-held',
  'clone-fence-taken',
  'clone-old-staging-trashed',
  'clone-staging-made',
  'clone-write-begun',
  'clone-written',
  'clone-write-receipt',
  'clone-sealed',
] as const;

/** Passed between fence and writing where the source is an address. */
export const FETCH_CHECKPOINTS = ['fetch-spool-taken', 'fetch-done'] as const;

export const CLOSE_CHECKPOINTS = [
  'close-begun',
  'close-proved',
  'close-flushed',
  'close-lane-held',
  'close-receipt-staged',
  'close-receipt-durable',
  'close-generation-renamed',
  'close-link-staged',
  'close-link-renamed',
  'close-settled',
  'close-swept',
] as const;

export const RETIRE_CHECKPOINTS = [
  'retire-recorded',
  'retire-link-removed',
  'retire-generations-trashed',
  'retire-bundles-trashed',
  'retire-settled',
] as const;

export const LOCAL_CHECKPOINTS = [
  'local-staged',
  'local-written',
  'local-proved',
  'local-flushed',
  'local-renamed',
] as const;

export type Checkpoint =
  | (typeof CLONE_CHECKPOINTS)[number]
  | (typeof FETCH_CHECKPOINTS)[number]
  | (typeof CLOSE_CHECKPOINTS)[number]
  | (typeof RETIRE_CHECKPOINTS)[number]
  | (typeof LOCAL_CHECKPOINTS)[number];
