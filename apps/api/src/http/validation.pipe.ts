import { type ArgumentMetadata, StandardSchemaValidationPipe } from '@nestjs/common';
import { printable } from '@quicksilver/hg-types';
import { ApiProblem, type FieldError } from '../domain/problem.ts';

type Issues = Parameters<StandardSchemaValidationPipe['exceptionFactory']>[0];
type Issue = Issues[number];

class Invalid extends Error {
  readonly issues: Issues;

  constructor(issues: Issues) {
    super('invalid');
    this.issues = issues;
  }
}

/** A request has few fields: more faults than this say nothing new. */
const MAX_ERRORS = 20;

/** Checks parameters by the schema beside them; what is wrong becomes a problem document that names each field. */
export class ValidationPipe extends StandardSchemaValidationPipe {
  constructor() {
    super({ exceptionFactory: (issues) => new Invalid(issues) });
  }

  override async transform<T>(value: T, metadata: ArgumentMetadata): Promise<T> {
    if (metadata.type === 'body' && metadata.schema && value === undefined) {
      throw new ApiProblem('API_MEDIA_TYPE', 'a JSON document is expected as body');
    }
    try {
      return await super.transform(value, metadata);
    } catch (err) {
      if (!(err instanceof Invalid)) throw err;
      const errors = err.issues.slice(0, MAX_ERRORS).map((issue) => fieldError(issue, metadata));
      const detail = errors.map(({ field, message }) => `${field}: ${message}`).join('; ');
      throw new ApiProblem('HG_USAGE', detail, { errors, advice: 'Correct the fields named in "errors": see /docs.' });
    }
  }
}

function fieldError(issue: Issue, metadata: ArgumentMetadata): FieldError {
  const path = (issue.path ?? []).map((part) => String(typeof part === 'object' ? part.key : part));
  const field = path.length > 0 ? path.join('.') : (metadata.data ?? metadata.type);
  const allowed = 'values' in issue && Array.isArray(issue.values) ? issue.values.map(String) : undefined;
  // Names of unknown fields are the caller's own text.
  return { field: printable(field), message: printable(issue.message).slice(0, 500), ...(allowed ? { allowed } : {}) };
}
