import { describe, expect, it } from '@jest/globals';
import { hexNode, PHASE, type Phase } from '@quicksilver/hg-types';
import { fixture, fixtureJson, seededRandom } from '@quicksilver/testing';
import {
  applyPhaseHeads,
  encodePhaseRoots,
  type PhaseRoot,
  parsePhaseRoots,
  phasesOf,
  type RevPhase,
} from '../src/index.ts';
import { isRecord } from './golden.ts';

const NODE = '0f67f378efffa0fe089232f818c16dfab65a44c4';

const phaseLine = ({ phase, node }: PhaseRoot): string => `${phase} ${hexNode(node)}`;

describe('phaseroots', () => {
  it.each(['basic', 'obs', 'secret'])('of %s is read whole and holds the same when written', (name) => {
    const bytes = fixture(`misc/${name}.phaseroots`);
    const roots = parsePhaseRoots(bytes);
    expect(roots.map(phaseLine)).toEqual(bytes.toString().trim().split('\n'));
    const again = parsePhaseRoots(encodePhaseRoots([...roots].reverse()));
    expect(again.map(phaseLine)).toEqual(roots.map(phaseLine).sort());
  });

  it('that is empty means that all is public', () => {
    expect(parsePhaseRoots('')).toEqual([]);
    expect(encodePhaseRoots([])).toHaveLength(0);
  });

  it('knows archived and internal phases', () => {
    expect(parsePhaseRoots(`32 ${NODE}\n96 ${NODE}\n`).map(({ phase }) => phase)).toEqual([
      PHASE.archived,
      PHASE.internal,
    ]);
  });

  it.each([
    'bogus',
    `1${NODE}\n`,
    `1  ${NODE}\n`,
    `77 ${NODE}\n`,
    `0 ${NODE}\n`,
    `-1 ${NODE}\n`,
    `01 ${NODE}\n`,
    `1 ${NODE.slice(1)}\n`,
    `1 ${NODE}0\n`,
    `1 ${NODE} x\n`,
    `1 ${NODE.toUpperCase()}\n`,
    `1 ${NODE}\n\n1 ${NODE}\n`,
    `draft ${NODE}\n`,
    `1 ${NODE}\r\n`,
  ])('refuses %p as a typed error that names the line', (content) => {
    expect(() => parsePhaseRoots(content)).toThrow(
      expect.objectContaining({
        code: 'HG_CORRUPT',
        where: expect.objectContaining({ file: 'phaseroots', line: expect.any(Number) }),
      }),
    );
  });
});

describe('phases of a graph', () => {
  //  0 - 1 - 2 - 4
  //       \- 3 -/   5 (root of its own)
  const graph = { p1: Int32Array.of(-1, 0, 1, 1, 2, -1), p2: Int32Array.of(-1, -1, -1, -1, 3, -1) };
  const { public: PUBLIC, draft: DRAFT, secret: SECRET } = PHASE;

  it('are the highest of the roots that a revision descends from', () => {
    expect([
      ...phasesOf(graph, [
        { rev: 1, phase: DRAFT },
        { rev: 3, phase: SECRET },
      ]),
    ]).toEqual([0, 1, 1, 2, 2, 0]);
  });

  it('move towards public up to a head, and no further', () => {
    const roots = [
      { rev: 0, phase: DRAFT },
      { rev: 3, phase: SECRET },
    ];
    expect(applyPhaseHeads(graph, roots, [{ rev: 2, phase: PUBLIC }])).toEqual([{ rev: 3, phase: SECRET }]);
    expect(applyPhaseHeads(graph, roots, [{ rev: 4, phase: DRAFT }])).toEqual([{ rev: 0, phase: DRAFT }]);
    expect(applyPhaseHeads(graph, roots, [])).toEqual(roots);
  });

  it('never move away from public', () => {
    expect(applyPhaseHeads(graph, [], [{ rev: 4, phase: SECRET }])).toEqual([]);
  });

  it('come out as roots and heads put together say, in random graphs', () => {
    const random = seededRandom(8);
    for (let round = 0; round < 200; round++) {
      const size = random.int(1, 30);
      const parent = (rev: number): number => (random.next() < 0.2 ? -1 : random.int(-1, rev));
      const p1 = Int32Array.from({ length: size }, (_, rev) => parent(rev));
      const p2 = Int32Array.from({ length: size }, (_, rev) => (random.next() < 0.3 ? parent(rev) : -1));
      const some = (): RevPhase[] =>
        Array.from({ length: random.int(0, 4) }, () => ({
          rev: random.int(0, size),
          phase: random.pick<Phase>([0, 1, 2]),
        }));
      const [roots, heads] = [some(), some()];
      const before = phasesOf({ p1, p2 }, roots);
      const expected = Array.from(before, (phase, rev) =>
        Math.min(phase, ...heads.filter((head) => isAncestor({ p1, p2 }, rev, head.rev)).map((head) => head.phase)),
      );
      expect([...phasesOf({ p1, p2 }, applyPhaseHeads({ p1, p2 }, roots, heads))]).toEqual(expected);
    }
  });

  it.each(['basic', 'secret'])('agree with what hg says of %s', (name) => {
    const facts = fixtureJson(`repos/${name}.json`);
    if (!isRecord(facts) || !Array.isArray(facts.changesets)) throw new Error('no changesets');
    const changesets = facts.changesets.filter(isRecord);
    const revs = new Map(changesets.map(({ node }, rev) => [node, rev]));
    const column = (key: string): Int32Array =>
      Int32Array.from(changesets, (changeset) => revs.get(changeset[key]) ?? -1);
    const roots = parsePhaseRoots(fixture(`misc/${name}.phaseroots`)).map(({ phase, node }) => ({
      phase,
      rev: revs.get(hexNode(node)) ?? -1,
    }));
    const phases = phasesOf({ p1: column('p1node'), p2: column('p2node') }, roots);
    expect([...phases].map((phase) => ['public', 'draft', 'secret'][phase])).toEqual(
      changesets.map(({ phase }) => phase),
    );
  });
});

function isAncestor(graph: { p1: Int32Array; p2: Int32Array }, ancestor: number, rev: number): boolean {
  if (rev === ancestor) return true;
  if (rev < ancestor) return false;
  return isAncestor(graph, ancestor, graph.p1[rev] ?? -1) || isAncestor(graph, ancestor, graph.p2[rev] ?? -1);
}
