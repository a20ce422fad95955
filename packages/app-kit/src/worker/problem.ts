import { type FaultRecord, faultRecord, HgError, printable } from '@quicksilver/hg-types';
import { Problem } from '@quicksilver/jobs';

/** A failed job's reason is its Problem as JSON: a few KB at most, whatever a bundle put into names and messages. */
const MAX_TEXT = 500;
const MAX_FACTS = 16;

export function problemOf(err: unknown, stage: string): Problem {
  return bounded({ ...faultRecord(err), stage });
}

export function encodeProblem(problem: Problem): string {
  return JSON.stringify(bounded(problem));
}

/** What `close` reads of a child that ended without a result. Reasons that are not ours come from the queue itself. */
export function decodeProblem(reason: string, stage: string): Problem & FaultRecord {
  const parsed = Problem.safeParse(jsonOrUndefined(reason));
  if (parsed.success) {
    // Class, advice and the like come from the code again, so that both sides always agree on them.
    const { code, message, where } = parsed.data;
    const known = faultRecord({ code, message, where });
    return { ...known, stage: parsed.data.stage, retryable: parsed.data.retryable };
  }
  const err = reason.includes('stalled')
    ? new HgError('HG_WORKER_LOST', 'worker lost: the job was taken up again too often', { reason: short(reason) })
    : new HgError('HG_INTERNAL', 'the work ended without a report', { reason: short(reason) });
  return { ...faultRecord(err), stage };
}

function bounded(problem: Problem): Problem {
  const facts = Object.entries(problem.where).slice(0, MAX_FACTS);
  return {
    ...problem,
    message: short(problem.message),
    where: Object.fromEntries(facts.map(([key, value]) => [key, typeof value === 'string' ? short(value) : value])),
  };
}

function short(text: string): string {
  const safe = printable(text);
  return safe.length > MAX_TEXT ? `${safe.slice(0, MAX_TEXT)}...` : safe;
}

function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
