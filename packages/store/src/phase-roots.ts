import { latin1Bytes } from '@quicksilver/bytes';
import { HgError, hexNode, type Node, nodeFromHex, PHASE, type Phase } from '@quicksilver/hg-types';
import { displayName } from './display-name.ts';
import { textLines } from './lines.ts';

/** Descendants of `node` are at least in `phase`; what descends from no root is public. */
export interface PhaseRoot {
  readonly phase: Phase;
  readonly node: Node;
}

const PHASES = new Map<string, Phase>(
  Object.values(PHASE).flatMap((phase): [string, Phase][] => (phase === PHASE.public ? [] : [[String(phase), phase]])),
);

/** `.hg/store/phaseroots`: lines of phase number and node. A missing or empty file means that all is public. */
export function parsePhaseRoots(content: Uint8Array | string): PhaseRoot[] {
  return textLines(content).map((line, at) => {
    const [number, hex, ...rest] = line.split(' ');
    const phase = PHASES.get(number ?? '');
    if (phase === undefined || hex === undefined || !/^[0-9a-f]{40}$/.test(hex) || rest.length > 0) {
      throw new HgError('HG_CORRUPT', 'a line is not a phase number and a node', {
        file: 'phaseroots',
        line: at + 1,
        got: displayName(line),
      });
    }
    return { phase, node: nodeFromHex(hex) };
  });
}

export function encodePhaseRoots(roots: Iterable<PhaseRoot>): Uint8Array {
  const ordered = [...roots].map(({ phase, node }) => ({ phase, hex: hexNode(node) }));
  ordered.sort((a, b) => a.phase - b.phase || (a.hex < b.hex ? -1 : 1));
  return latin1Bytes(ordered.map(({ phase, hex }) => `${phase} ${hex}\n`).join(''));
}
