import { codeFacts, type HgErrorCode, isHgErrorCode } from '@quicksilver/hg-types';

interface ProblemFacts {
  readonly status: number;
  readonly title: string;
  readonly advice: string;
}

/** Codes of this API alone, about requests rather than repositories. Stable: clients match on them. */
export const API_CODES = {
  API_NO_ROUTE: {
    status: 404,
    title: 'No such address',
    advice: 'See /docs for what there is. A mirror name is one segment: write "/" inside it as %2F.',
  },
  API_UNKNOWN_MIRROR: { status: 404, title: 'No such mirror', advice: 'List what there is with GET /v1/mirrors.' },
  API_UNKNOWN_TASK: { status: 404, title: 'No such task', advice: 'List what there is with GET /v1/tasks.' },
  API_UNKNOWN_QUEUE: {
    status: 404,
    title: 'No such queue',
    advice: 'A queue is named after its kind and volume, for example clone@main.',
  },
  API_MIRROR_EXISTS: {
    status: 409,
    title: 'The mirror exists with another source',
    advice: 'Change its source with PATCH, then ask for a clone; or choose another name.',
  },
  API_NAME_TAKEN: {
    status: 409,
    title: 'The name overlaps with that of another mirror',
    advice: 'No name may be a path above or below another: choose one beside it.',
  },
  API_RETIRING: {
    status: 409,
    title: 'The mirror is being retired',
    advice: 'Wait until that task is settled, or cancel it, then ask again.',
  },
  API_TOO_LARGE: { status: 413, title: 'The request is too large', advice: 'Send less: requests are small documents.' },
  API_MEDIA_TYPE: {
    status: 415,
    title: 'The media type is not supported',
    advice: 'Send JSON in UTF-8 with "content-type: application/json".',
  },
  API_UNAVAILABLE: {
    status: 503,
    title: 'Not available now',
    advice: 'Try again in a moment; /readyz says what is missing.',
  },
  API_BUSY: { status: 503, title: 'Too many listeners', advice: 'Try again later, or ask for the task now and then.' },
} as const satisfies Record<string, ProblemFacts>;

/** Status and title of the HG_ codes that answer a request; their advice is the one they have everywhere. */
const HG_STATUS: Partial<Record<HgErrorCode, Pick<ProblemFacts, 'status' | 'title'>>> = {
  HG_USAGE: { status: 400, title: 'The request is not valid' },
  HG_NOT_YET: { status: 422, title: 'Not supported yet' },
  HG_UNSUPPORTED: { status: 422, title: 'Not supported' },
  HG_POLICY: { status: 403, title: 'Not allowed here' },
  HG_NO_SPACE: { status: 507, title: 'No room left' },
};

export type ApiCode = keyof typeof API_CODES;
export type ProblemCode = ApiCode | HgErrorCode;

/** One fault of one field. `allowed` lists what would have been accepted. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
  readonly allowed?: readonly string[];
}

/** RFC 9457 members, then our own. */
export interface ProblemDocument {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: ProblemCode;
  readonly detail: string;
  readonly advice: string;
  readonly errors?: readonly FieldError[];
  /** Set where a POST was refused, beside `created` and `merged` of the answers that are not problems. */
  readonly outcome?: 'refused';
  /** Id of the task that stands in the way. */
  readonly task?: string;
}

export interface ProblemExtras {
  readonly errors?: readonly FieldError[];
  readonly advice?: string;
  readonly outcome?: 'refused';
  readonly task?: string;
  readonly retryAfter?: number;
}

/** A request that cannot be granted. `detail` is for people and holds no credentials. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly code: ProblemCode;
  readonly extras: ProblemExtras;

  constructor(code: ProblemCode, detail: string, extras: ProblemExtras = {}) {
    super(detail);
    this.code = code;
    this.extras = extras;
  }
}

export function problemDocument(code: ProblemCode, detail: string, extras: ProblemExtras = {}): ProblemDocument {
  const facts = factsOf(code);
  return {
    type: `urn:quicksilver:problem:${code.toLowerCase().replaceAll('_', '-')}`,
    title: facts.title,
    status: facts.status,
    code,
    detail,
    advice: extras.advice ?? facts.advice,
    ...(extras.errors ? { errors: extras.errors } : {}),
    ...(extras.outcome ? { outcome: extras.outcome } : {}),
    ...(extras.task ? { task: extras.task } : {}),
  };
}

function factsOf(code: ProblemCode): ProblemFacts {
  if (!isHgErrorCode(code)) return API_CODES[code];
  const known = HG_STATUS[code] ?? { status: 500, title: 'Something went wrong here' };
  return { ...known, advice: codeFacts(code).advice };
}
