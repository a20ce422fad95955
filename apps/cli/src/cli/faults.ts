import {
  describeFault,
  type FaultRecord,
  faultRecord,
  HgError,
  type HgErrorCode,
  printable,
} from '@quicksilver/hg-types';

type Where = FaultRecord['where'];

/** A fault whose way out is known better here than the code's general advice can say. */
export class AdvisedError extends HgError {
  readonly #advice: string;

  constructor(code: HgErrorCode, message: string, facts: { where?: Where; advice: string; cause?: unknown }) {
    super(code, message, facts.where ?? {}, facts.cause);
    this.#advice = facts.advice;
  }

  override get advice(): string {
    return this.#advice;
  }
}

/** Something that a later version does. */
export function notYet(message: string, advice: string): AdvisedError {
  return new AdvisedError('HG_NOT_YET', message, { advice });
}

/** A fault of the command line itself; its message says what to write instead. */
export function usage(message: string): HgError {
  return new HgError('HG_USAGE', message);
}

export interface Failure {
  readonly fault: FaultRecord;
  /** One sentence or two for a person. */
  readonly text: string;
}

export function describeFailure(err: unknown): Failure {
  const fault = faultRecord(err);
  if (fault.class !== 'bug') return { fault, text: describeFault(fault) };
  const text = `${printable(fault.message)} (${fault.code}). This is a bug in Quicksilver: please report what you ran and this line; QUICKSILVER_DEBUG=1 adds the stack.`;
  return { fault, text };
}

/** The stack with its causes, for QUICKSILVER_DEBUG=1 only. */
export function debugText(err: unknown): string {
  const lines: string[] = [];
  for (let at: unknown = err; at instanceof Error; at = at.cause) lines.push(at.stack ?? String(at));
  return lines.join('\ncaused by: ');
}
