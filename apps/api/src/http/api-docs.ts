import { applyDecorators, type INestApplication } from '@nestjs/common';
import { ApiResponse, DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { z } from 'zod';
import { API_CODES } from '../domain/problem.ts';
import { ProblemView, TaskView } from './schemas.ts';

const COMPONENTS = '#/components/schemas/';
const DESCRIPTION = `Provisions Mercurial mirrors. Every failure is a problem document (RFC 9457) with a stable \`code\`,
what to do (\`advice\`), and the fields at fault (\`errors\`).

Codes of the API itself: ${Object.keys(API_CODES).join(', ')}. All others (HG_...) are those of tasks.`;

/** Describes an answer by its schema, which has an id and an example. */
export function ApiAnswer(status: number, schema: z.ZodType, description = 'Done'): MethodDecorator & ClassDecorator {
  return ApiResponse({ status, description, content: { 'application/json': { schema: reference(schema) } } });
}

export function ApiProblems(...statuses: number[]): MethodDecorator & ClassDecorator {
  const content = { 'application/problem+json': { schema: reference(ProblemView) } };
  return applyDecorators(
    ...[...statuses, 500].map((status) => ApiResponse({ status, description: 'Problem', content })),
  );
}

export function ApiEventStream(): MethodDecorator & ClassDecorator {
  const example = `event: state\nid: ...\ndata: ${JSON.stringify(z.globalRegistry.get(TaskView)?.example)}\n\n`;
  const content = { 'text/event-stream': { schema: { type: 'string' }, example } };
  return applyDecorators(
    ApiResponse({ status: 200, description: 'Events', content }),
    ApiResponse({ status: 204, description: 'Settled, and the client has heard so' }),
  );
}

/** Serves the page at /docs and the document at /docs/openapi.json. */
export function serveDocs(app: INestApplication, version: string): void {
  SwaggerModule.setup('docs', app, () => openApiDocument(app, version), {
    jsonDocumentUrl: 'docs/openapi.json',
    yamlDocumentUrl: 'docs/openapi.yaml',
    customSiteTitle: 'Quicksilver API',
  });
}

function openApiDocument(app: INestApplication, version: string): OpenAPIObject {
  const config = new DocumentBuilder().setTitle('Quicksilver').setDescription(DESCRIPTION).setVersion(version).build();
  const document = SwaggerModule.createDocument(app, config);
  describeHealth(document);
  return {
    ...document,
    components: { ...document.components, schemas: { ...document.components?.schemas, ...named() } },
  };
}

const HEALTH = {
  '/healthz': 'Whether this process works',
  '/readyz': 'Whether work gets done, or why not',
  '/metrics': 'Figures for Prometheus',
} as const;

/** Those addresses are the same in all services, which know nothing of this page. */
function describeHealth({ paths }: OpenAPIObject): void {
  for (const [path, summary] of Object.entries(HEALTH)) {
    const { get } = paths[path] ?? {};
    if (get) Object.assign(get, { summary, tags: ['health'] });
  }
}

/** Every schema with an id, as components that refer to each other. */
function named(): NonNullable<NonNullable<OpenAPIObject['components']>['schemas']> {
  const { schemas } = z.toJSONSchema(z.globalRegistry, { target: 'openapi-3.0', uri: (id) => `${COMPONENTS}${id}` });
  const plain = Object.entries(schemas).map(([id, { $id: _id, $schema: _schema, ...schema }]) => [id, schema]);
  return JSON.parse(JSON.stringify(Object.fromEntries(plain)));
}

function reference(schema: z.ZodType): { $ref: string } {
  const id = z.globalRegistry.get(schema)?.id;
  if (id === undefined) throw new Error('a schema of an answer has no id');
  return { $ref: `${COMPONENTS}${id}` };
}
