/** Phase numbers as stored in `phaseroots` and sent in `phase-heads` (hg help internals.bundle2). */
export const PHASE = { public: 0, draft: 1, secret: 2, archived: 32, internal: 96 } as const;
export type Phase = (typeof PHASE)[keyof typeof PHASE];
