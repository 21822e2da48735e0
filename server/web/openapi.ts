import type { z } from 'zod';
import { CSRF_HEADER } from '../../protocol/members.ts';
import type { Access, Operation, ResponseDescription } from '../../protocol/operation.ts';
import { studioApi } from '../../protocol/studio-api.ts';
import { viewerApi } from '../../protocol/viewer-api.ts';
import { NON_UUID_IDS } from '../http/parameters.ts';
import {
  COMMON_HEADERS,
  errorReferences,
  errorResponses,
  HEADERS,
  header,
  REQUEST_ID,
} from './openapi-errors.ts';
import { type JsonObject, OpenApiSchemas } from './openapi-schemas.ts';
import { webhookItems } from './openapi-webhooks.ts';

/** An OpenAPI 3.1 document, as far as this program reads it again. */
export interface OpenApiDocument extends JsonObject {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, JsonObject>>;
  readonly webhooks: Record<string, Record<string, JsonObject>>;
  readonly components: Record<string, JsonObject>;
}

const DESCRIPTION = `A live event audience service: viewer tokens, exact view counts, quizzes and
winners, and a feed of 250-ms intervals.

Every error has the members \`type\`, \`title\`, \`status\` and \`detail\` of RFC 9457, as
\`application/problem+json\` when \`Accept\` names it. A path means the same with and without a
slash at its end. \`HEAD\` works wherever \`GET\` does, \`OPTIONS\` everywhere; a method that a path
does not have is 405, and an unknown path is 404.`;

interface Tag {
  readonly name: string;
  readonly description: string;
  /** Paths of its operations; of several tags that fit, the first one is meant. */
  readonly paths: RegExp;
}

const TAGS: readonly Tag[] = [
  { name: 'Clock', description: 'What the intervals are counted by', paths: /^\/api\/v1\/time/ },
  { name: 'Account', description: 'The account of a service token', paths: /^\/api\/v1\/users/ },
  { name: 'Streams', description: 'What there is to watch', paths: /^\/api\/v1\/streams/ },
  {
    name: 'Viewer tokens',
    description: 'Who may watch, and how to check it',
    paths: /v1\/token$|jwks/,
  },
  { name: 'View counts', description: 'How many watch', paths: /view-counts/ },
  { name: 'Quizzes', description: 'Answers and winners', paths: /^\/api\/v1\/quizzes/ },
  { name: 'Feed', description: 'What happens, and what viewers say', paths: /events-streams/ },
  {
    name: 'Studio: members',
    description: 'Who signs in, and who may what',
    paths: /^\/studio\/v1\/(session|setup|invitations|members)/,
  },
  {
    name: 'Studio: account',
    description: 'The account and its tokens',
    paths: /account|api-tokens/,
  },
  {
    name: 'Studio: streams',
    description: 'Make and run a show',
    paths: /^\/studio\/v1\/streams(?!.*\/(quizzes|rundown|request-winners|winners-rounds|exports))/,
  },
  {
    name: 'Studio: quizzes',
    description: 'Ask, reveal, find winners',
    paths: /^\/studio(?!.*\/exports).*\/(quizzes|rundown|request-winners|winners-rounds)/,
  },
  { name: 'Studio: exports', description: 'What was recorded', paths: /\/exports\// },
  { name: 'Studio: webhooks', description: 'Tell other programs', paths: /\/webhooks/ },
];

/** What an operation takes for a credential; a write by cookie needs the token of the page too. */
function securityOf({ access, method, takesPresenterKey }: Operation): readonly JsonObject[] {
  const session = method === 'GET' ? { Session: [] } : { Session: [], CsrfToken: [] };
  const security: Readonly<Record<Access, readonly JsonObject[]>> = {
    public: [],
    optional: [{}, { ServiceToken: [] }, { ViewerToken: [] }],
    viewer: [{ ViewerToken: [] }],
    service: [{ ServiceToken: [] }],
    studio: [{ ServiceToken: [] }, session],
    session: [session],
  };
  return [...security[access], ...(takesPresenterKey ? [{ PresenterKey: [] }] : [])];
}

const SECURITY_SCHEMES: JsonObject = {
  ViewerToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'From `POST /api/v1/token`; good for one stream and 10 minutes',
  },
  ServiceToken: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'The word `Token`, a space and the service token: `Token fb_…`',
  },
  PresenterKey: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description:
      'The word `Presenter`, a space and the presenter key of the show: `Presenter pk_…`',
  },
  Session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'fourbeat',
    description:
      'Set by signing in; its name is `__Host-fourbeat` where the service is reached by https. An `Authorization` header goes before it',
  },
  CsrfToken: {
    type: 'apiKey',
    in: 'header',
    name: CSRF_HEADER,
    description: 'The `csrf` of the session, with every write by cookie',
  },
};

const PATH_PARAMETERS: Readonly<Record<string, string>> = {
  stream_id: "The stream's id",
  quiz_id: "The quiz's id",
  token_id: 'The id of the service token, not the token itself',
  member_id: "The member's uuid",
  invitation_id: "The invitation's id",
  webhook_id: "The webhook's id",
  delivery_id: "The delivery's id",
  viewer: 'The opaque id of the viewer, as lines of the chat have it',
  line_id: 'The id of a line of the chat',
};

/**
 * The OpenAPI 3.1 document of the whole API, made from the descriptions that route and validate
 * (SPEC O-15).
 * @param version of the program
 */
export function openApiDocument(version: string): OpenApiDocument {
  const schemas = new OpenApiSchemas();
  const operations: Record<string, Operation> = { ...viewerApi, ...studioApi };
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const [operationId, operation] of Object.entries(operations)) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: describeOperation(operationId, operation, schemas),
    };
  }
  const responses = errorResponses(schemas);
  const webhooks = webhookItems(schemas);
  return {
    openapi: '3.1.1',
    info: {
      title: 'Fourbeat',
      version,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    tags: TAGS.map(({ name, description }) => ({ name, description })),
    paths,
    webhooks,
    components: {
      schemas: schemas.components,
      responses,
      headers: HEADERS,
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

function describeOperation(
  operationId: string,
  operation: Operation,
  schemas: OpenApiSchemas,
): JsonObject {
  const { path, summary, body, bodyOptional, bodyBytes } = operation;
  const description = operationDescription(operation);
  const tag = TAGS.find(({ paths }) => paths.test(path));
  if (!tag) throw new Error(`no tag fits ${path}`);
  const parameters = operationParameters(operation, schemas);
  return {
    operationId,
    tags: [tag.name],
    summary,
    ...(description && { description }),
    security: securityOf(operation),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: !bodyOptional,
        description: `At most ${bodyBytes} bytes`,
        content: { 'application/json': { schema: schemas.of(body, 'input') } },
      },
    }),
    responses: {
      ...errorReferences(operation),
      ...Object.fromEntries(
        Object.entries(operation.responses).map(([status, answer]) => [
          status,
          describeResponse(answer, operation, schemas),
        ]),
      ),
    },
  };
}

/** What is said beside the summary: in the words of its author, and which members may. */
function operationDescription({ description = '', roles }: Operation): string {
  if (!roles) return description;
  const may = `Members who may: ${roles.join(', ')}. A service token may what an owner may.`;
  return `${description} ${may}`.trimStart();
}

function operationParameters(
  { path, query, headers }: Operation,
  schemas: OpenApiSchemas,
): JsonObject[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: PATH_PARAMETERS[name],
    schema: NON_UUID_IDS[name]
      ? schemas.of(NON_UUID_IDS[name], 'input')
      : { type: 'string', format: 'uuid' },
  }));
  return [
    ...inPath,
    ...namedParameters('query', query, schemas),
    ...namedParameters('header', headers, schemas),
  ];
}

function namedParameters(
  location: 'query' | 'header',
  shape: z.ZodObject | undefined,
  schemas: OpenApiSchemas,
): JsonObject[] {
  if (!shape) return [];
  const { properties, required = [] } = schemas.of(shape, 'input') as {
    properties: Record<string, JsonObject>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: location,
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema,
  }));
}

function describeResponse(
  answer: ResponseDescription,
  { role }: Operation,
  schemas: OpenApiSchemas,
): JsonObject {
  const { description, schema, otherTypes, headers } = answer;
  const content = {
    ...(schema && { 'application/json': { schema: schemas.of(schema, 'output') } }),
    ...Object.fromEntries(
      Object.entries(otherTypes ?? {}).map(([type, other]) => [
        type,
        { schema: schemas.of(other, 'output') },
      ]),
    ),
  };
  return {
    description,
    headers: {
      ...COMMON_HEADERS,
      ...(role === 'studio' && REQUEST_ID),
      ...Object.fromEntries(
        Object.entries(headers ?? {}).map(([name, value]) => [
          name,
          responseHeader(value, schemas),
        ]),
      ),
    },
    ...(Object.keys(content).length > 0 && { content }),
  };
}

function responseHeader(value: z.ZodType, schemas: OpenApiSchemas): JsonObject {
  const { description = '', ...schema } = schemas.of(value, 'output');
  return header(String(description), schema, !value.safeParse(undefined).success);
}
