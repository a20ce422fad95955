import { describe, expect, it } from '@jest/globals';
import { HgError } from '@quicksilver/hg-types';
import { decodeProblem, encodeProblem, problemOf } from '../../src/worker/problem.ts';

describe('problems between jobs', () => {
  it('survive the way through a failed reason', () => {
    const problem = problemOf(new HgError('HG_CORRUPT', 'damaged', { file: 'a', offset: 3 }), 'write');
    expect(decodeProblem(encodeProblem(problem), 'x')).toEqual(problem);
  });

  it("say in our words what the queue's own reasons mean", () => {
    const stalled = decodeProblem('job stalled more than allowable limit', 'write');
    expect(stalled).toMatchObject({ code: 'HG_WORKER_LOST', class: 'memory', stage: 'write' });
    expect(decodeProblem('anything else', 'write')).toMatchObject({ code: 'HG_INTERNAL', stage: 'write' });
    expect(decodeProblem('{"code":1}', 'write').code).toBe('HG_INTERNAL');
  });

  it('keep the words of a newer peer whose code is not known here', () => {
    const problem = { ...problemOf(new HgError('HG_IO', 'new words'), 'write'), code: 'HG_NEW' };
    expect(decodeProblem(JSON.stringify(problem), 'x')).toMatchObject({ code: 'HG_INTERNAL', message: 'new words' });
  });
});
