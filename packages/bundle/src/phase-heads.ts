import { ByteCursor } from '@quicksilver/bytes';
import { HgError, NODE_BYTES, type Node, PHASE, type Phase } from '@quicksilver/hg-types';
import { PHASE_HEAD_BYTES } from './layout.ts';

export interface PhaseHead {
  readonly phase: Phase;
  readonly node: Node;
}

const PHASES: ReadonlyMap<number, Phase> = new Map(Object.values(PHASE).map((phase) => [phase, phase]));

/** Payload of a `phase-heads` part: (signed 32-bit phase, node) until its end. Nodes are copies. */
export function readPhaseHeads(payload: Uint8Array): PhaseHead[] {
  if (payload.length % PHASE_HEAD_BYTES !== 0) {
    throw new HgError('HG_CORRUPT', 'the list of phase heads has an incomplete entry', {
      part: 'phase-heads',
      size: payload.length,
      entrySize: PHASE_HEAD_BYTES,
    });
  }
  const cursor = new ByteCursor(payload, 'phase-heads');
  const heads: PhaseHead[] = [];
  while (cursor.remaining > 0) {
    const { offset } = cursor;
    const number = cursor.i32();
    const phase = PHASES.get(number);
    if (phase === undefined) {
      throw new HgError('HG_CORRUPT', 'a phase is not known', { part: 'phase-heads', offset, phase: number });
    }
    heads.push({ phase, node: new Uint8Array(cursor.raw(NODE_BYTES)) });
  }
  return heads;
}

export function writePhaseHeads(heads: readonly PhaseHead[]): Uint8Array {
  const payload = new Uint8Array(heads.length * PHASE_HEAD_BYTES);
  const view = new DataView(payload.buffer);
  for (const [i, { phase, node }] of heads.entries()) {
    view.setInt32(i * PHASE_HEAD_BYTES, phase);
    payload.set(node, i * PHASE_HEAD_BYTES + 4);
  }
  return payload;
}
