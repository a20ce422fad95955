import type { INestApplication } from '@nestjs/common';
import { serveDocs } from './http/api-docs.ts';
import { ProblemFilter } from './http/problem.filter.ts';
import { refuseForeign } from './http/refuse-foreign.ts';
import { ValidationPipe } from './http/validation.pipe.ts';
import type { Logger } from './logger.ts';

export const API_VERSION = '0.1.0';

/** What holds for every route: checks, problem documents, the docs page. */
export function configureApp(app: INestApplication, logger: Logger): void {
  app.use(refuseForeign);
  app.useGlobalPipes(new ValidationPipe());
  app.useGlobalFilters(new ProblemFilter(logger));
  serveDocs(app, API_VERSION);
}
